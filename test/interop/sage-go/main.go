// A SAGE agent of the first generation (sage 1.5.2, sage-a2a-go 1.7.0), without a chain.
//
//	call   signs requests with the signer of sage-a2a-go and sends them, as the orders on standard input say; prints what was answered
//	serve  judges requests with the middleware of sage-a2a-go; prints its port, then runs until its standard input ends
package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/sage-x-project/sage-a2a-go/pkg/server"
	"github.com/sage-x-project/sage-a2a-go/pkg/signer"
	"github.com/sage-x-project/sage-a2a-go/pkg/verifier"
	sagecrypto "github.com/sage-x-project/sage/pkg/agent/crypto"
	"github.com/sage-x-project/sage/pkg/agent/crypto/keys"
	"github.com/sage-x-project/sage/pkg/agent/did"
)

// order is a request to be signed and sent.
type order struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	DID        string            `json:"did"`
	Kind       string            `json:"kind"`
	PrivateKey string            `json:"privateKey"`
	Components []string          `json:"components"`
	Created    int64             `json:"created"`
	Expires    int64             `json:"expires"`
	Nonce      string            `json:"nonce"`
}

type answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

func keyPair(kind, private string) (sagecrypto.KeyPair, error) {
	secret, err := hex.DecodeString(private)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Ed25519":
		return keys.NewEd25519KeyPair(ed25519.NewKeyFromSeed(secret), "key")
	case "secp256k1":
		return keys.NewSecp256k1KeyPair(secp256k1.PrivKeyFromBytes(secret), "key")
	}
	return nil, fmt.Errorf("unknown kind %s", kind)
}

func send(o order) (*answer, error) {
	pair, err := keyPair(o.Kind, o.PrivateKey)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(o.Method, o.URL, bytes.NewReader([]byte(o.Body)))
	if err != nil {
		return nil, err
	}
	for name, value := range o.Headers {
		request.Header.Set(name, value)
	}
	ctx := context.Background()
	signing := signer.NewDefaultA2ASigner()
	if o.Components == nil {
		err = signing.SignRequest(ctx, request, did.AgentDID(o.DID), pair)
	} else {
		options := &signer.SigningOptions{Components: o.Components, Created: o.Created, Expires: o.Expires, Nonce: o.Nonce}
		err = signing.SignRequestWithOptions(ctx, request, did.AgentDID(o.DID), pair, options)
	}
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return &answer{response.StatusCode, string(body)}, err
}

func call() error {
	var orders []order
	if err := json.NewDecoder(os.Stdin).Decode(&orders); err != nil {
		return err
	}
	for at, each := range orders {
		answered, err := send(each)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"check": strconv.Itoa(at), "got": answered}); err != nil {
			return err
		}
	}
	return nil
}

// registered stands in for the registry: DIDs with the kind and the bytes of their key.
type registered map[string]struct {
	Kind      string `json:"kind"`
	PublicKey string `json:"publicKey"`
}

func (r registered) SelectKey(_ context.Context, agent did.AgentDID, _ string) (crypto.PublicKey, did.KeyType, error) {
	found, ok := r[string(agent)]
	if !ok {
		return nil, 0, errors.New("not registered")
	}
	raw, err := hex.DecodeString(found.PublicKey)
	if err != nil {
		return nil, 0, err
	}
	name, kind := "ed25519", did.KeyTypeEd25519
	if found.Kind == "secp256k1" {
		name, kind = "secp256k1", did.KeyTypeECDSA
	}
	key, err := did.UnmarshalPublicKey(raw, name)
	return key, kind, err
}

func serve(agents string) error {
	known := registered{}
	if err := json.Unmarshal([]byte(agents), &known); err != nil {
		return err
	}
	judge := verifier.NewDefaultDIDVerifier(nil, known, verifier.NewRFC9421Verifier())
	handler := server.NewDIDAuthMiddlewareWithVerifier(judge).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, _ := server.GetAgentDIDFromContext(r.Context())
		fmt.Fprint(w, agent)
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() { _ = http.Serve(listener, handler) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func main() {
	log.SetOutput(io.Discard)
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "call":
		err = call()
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	default:
		err = errors.New("usage: koine-sage-peer call | serve AGENTS")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
