// An agent and a client of a2a-go: "serve" prints its port on the first line and stops when its standard input ends;
// "call URL" prints one JSON line per check.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

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
	url := fmt.Sprintf("http://%s", listener.Addr())
	card := &a2a.AgentCard{
		Name:                "go",
		Description:         "answers with its question",
		Version:             "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(url+"/invoke", a2a.TransportProtocolJSONRPC)},
		Capabilities:        a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes:   []string{"text/plain"},
		DefaultOutputModes:  []string{"text/plain"},
		Skills:              []a2a.AgentSkill{},
	}
	mux := http.NewServeMux()
	mux.Handle("/invoke", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor{})))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	go func() { _ = http.Serve(listener, mux) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_, err = io.ReadAll(bufio.NewReader(os.Stdin))
	return err
}

func report(check string, got any) {
	line, _ := json.Marshal(map[string]any{"check": check, "got": got})
	fmt.Println(string(line))
}

func answerOf(event a2a.SendMessageResult) string {
	switch found := event.(type) {
	case *a2a.Message:
		return textOf(found.Parts)
	case *a2a.Task:
		text := ""
		for _, artifact := range found.Artifacts {
			text += textOf(artifact.Parts)
		}
		if text == "" && found.Status.Message != nil {
			text = textOf(found.Status.Message.Parts)
		}
		return text
	}
	return ""
}

func call(url string) error {
	ctx := context.Background()
	card, err := agentcard.DefaultResolver.Resolve(ctx, url)
	if err != nil {
		return err
	}
	client, err := a2aclient.NewFromCard(ctx, card)
	if err != nil {
		return err
	}
	said := func(text string) *a2a.SendMessageRequest {
		return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
	}
	result, err := client.SendMessage(ctx, said("hello"))
	if err != nil {
		return err
	}
	report("send", answerOf(result))
	streamed := ""
	for event, err := range client.SendStreamingMessage(ctx, said("stream")) {
		if err != nil {
			return err
		}
		switch found := event.(type) {
		case *a2a.Message:
			streamed += textOf(found.Parts)
		case *a2a.TaskArtifactUpdateEvent:
			streamed += textOf(found.Artifact.Parts)
		case *a2a.Task:
			streamed += answerOf(found)
		}
	}
	report("stream", streamed)
	_, err = client.GetTask(ctx, &a2a.GetTaskRequest{ID: "no-such-task"})
	report("unknown task", fmt.Sprint(err != nil))
	return nil
}

func main() {
	var err error
	if len(os.Args) > 2 && os.Args[1] == "call" {
		err = call(os.Args[2])
	} else {
		err = serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
