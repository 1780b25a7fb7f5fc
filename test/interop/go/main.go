// An agent and a client of a2a-go: "serve" prints its port on the first line and stops when its standard input ends;
// "call URL BINDING" prints one JSON line per check; "card URL" reads a card.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// How long a check may take.
const checkTime = 15 * time.Second

type executor struct{}

func textOf(parts a2a.ContentParts) string {
	text := ""
	for _, part := range parts {
		text += part.Text()
	}
	return text
}

func (executor) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		said := textOf(call.Message.Parts)
		if !yield(a2a.NewSubmittedTask(call, call.Message), nil) {
			return
		}
		if !yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateWorking, nil), nil) {
			return
		}
		if said == "wait" {
			<-ctx.Done()
			return
		}
		if !yield(a2a.NewArtifactEvent(call, a2a.NewTextPart("you said: "+said)), nil) {
			return
		}
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil), nil)
	}
}

func (executor) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCanceled, nil), nil)
	}
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	dialled, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://%s", listener.Addr())
	card := &a2a.AgentCard{
		Name:        "go",
		Description: "answers with its question",
		Version:     "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+"/invoke", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(url+"/rest", a2a.TransportProtocolHTTPJSON),
			a2a.NewAgentInterface(dialled.Addr().String(), a2a.TransportProtocolGRPC),
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{},
	}
	handler := a2asrv.NewHandler(executor{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))
	mux := http.NewServeMux()
	mux.Handle("/invoke", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	server := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(server)
	go func() { _ = server.Serve(dialled) }()
	go func() { _ = http.Serve(listener, mux) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_, err = io.ReadAll(bufio.NewReader(os.Stdin))
	return err
}

func report(check string, got any) {
	line, _ := json.Marshal(map[string]any{"check": check, "got": got})
	fmt.Println(string(line))
}

// Reports the result of one check, or its error.
func try(check string, work func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	got, err := work(ctx)
	if err != nil {
		got = "error: " + err.Error()
	}
	report(check, got)
}

func answerOf(task *a2a.Task) string {
	text := ""
	for _, artifact := range task.Artifacts {
		text += textOf(artifact.Parts)
	}
	return text
}

func said(text string, wait bool) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	return &a2a.SendMessageRequest{Message: message, Config: &a2a.SendMessageConfig{ReturnImmediately: !wait}}
}

func call(url string, binding string) error {
	card, err := agentcard.DefaultResolver.Resolve(context.Background(), url)
	if err != nil {
		return err
	}
	endpoints := []*a2a.AgentInterface{}
	for _, each := range card.SupportedInterfaces {
		if string(each.ProtocolBinding) == binding && each.ProtocolVersion == a2a.Version {
			endpoints = append(endpoints, each)
		}
	}
	dial := a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
	client, err := a2aclient.NewFromEndpoints(context.Background(), endpoints, dial)
	if err != nil {
		return err
	}
	start := func(ctx context.Context, text string, wait bool) (*a2a.Task, error) {
		result, err := client.SendMessage(ctx, said(text, wait))
		if err != nil {
			return nil, err
		}
		task, ok := result.(*a2a.Task)
		if !ok {
			return nil, fmt.Errorf("%T instead of a task", result)
		}
		return task, nil
	}
	try("send", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "hello", true)
		if err != nil {
			return nil, err
		}
		return answerOf(task), nil
	})
	try("stream", func(ctx context.Context) (any, error) {
		streamed := ""
		for event, err := range client.SendStreamingMessage(ctx, said("stream", true)) {
			if err != nil {
				return nil, err
			}
			if found, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
				streamed += textOf(found.Artifact.Parts)
			}
		}
		return streamed, nil
	})
	try("get", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "hello", true)
		if err != nil {
			return nil, err
		}
		got, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID})
		if err != nil {
			return nil, err
		}
		return answerOf(got), nil
	})
	try("list", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "hello", true)
		if err != nil {
			return nil, err
		}
		listed, err := client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: task.ContextID})
		if err != nil {
			return nil, err
		}
		for _, each := range listed.Tasks {
			if each.ID == task.ID {
				return true, nil
			}
		}
		return false, nil
	})
	try("cancel", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "wait", false)
		if err != nil {
			return nil, err
		}
		got, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
		if err != nil {
			return nil, err
		}
		return got.Status.State, nil
	})
	try("subscribe", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "wait", false)
		if err != nil {
			return nil, err
		}
		var last a2a.TaskState
		cancelled := false
		for event, err := range client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}) {
			if err != nil {
				return nil, err
			}
			switch found := event.(type) {
			case *a2a.Task:
				last = found.Status.State
			case *a2a.TaskStatusUpdateEvent:
				last = found.Status.State
			}
			if !cancelled {
				cancelled = true
				if _, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
					return nil, err
				}
			}
		}
		return last, nil
	})
	try("push", func(ctx context.Context) (any, error) {
		task, err := start(ctx, "wait", false)
		if err != nil {
			return nil, err
		}
		made, err := client.CreateTaskPushConfig(ctx, &a2a.PushConfig{TaskID: task.ID, ID: "hook", URL: "https://example.com/hook"})
		if err != nil {
			return nil, err
		}
		got, err := client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: made.ID})
		if err != nil {
			return nil, err
		}
		listed, err := client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
		if err != nil {
			return nil, err
		}
		if err := client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: made.ID}); err != nil {
			return nil, err
		}
		left, err := client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
		if err != nil {
			return nil, err
		}
		_, err = client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
		return []any{got.URL, len(listed), len(left)}, err
	})
	try("unknown", func(ctx context.Context) (any, error) {
		_, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: "no-such-task"})
		return errors.Is(err, a2a.ErrTaskNotFound), nil
	})
	return nil
}

func readCard(url string) error {
	card, err := agentcard.DefaultResolver.Resolve(context.Background(), url)
	if err != nil {
		return err
	}
	report("card", card.Name)
	return nil
}

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "call":
		err = call(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "card":
		err = readCard(os.Args[2])
	default:
		err = serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
