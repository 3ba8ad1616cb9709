//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Models select the behaviour of the upstream. Clients ask for them with the provider's prefix.
// Only the gateway removes it, so the upstream knows its caller.
const (
	providerPrefix = "up/"
	// Prefixes of the same upstream as a provider with only one of the APIs.
	chatOnlyPrefix      = "up-chat/"
	responsesOnlyPrefix = "up-responses/"
	messagesOnlyPrefix  = "up-messages/"
	geminiPrefix        = "up-gemini/"
	// securePrefix is of the same upstream over TLS and HTTP/2.
	securePrefix = "up-tls/"

	// aliasPrefix is of an alias of the first provider's model; a second one stands behind it.
	aliasPrefix = "team/"

	modelWhole     = "bench"           // one JSON answer, or 64 Responses events
	modelCoalesced = "bench-coalesced" // 64 chat or Responses events in one write
	modelPaced     = "bench-paced"     // 40 chat events, pace apart
	modelHeld      = "bench-held"      // one event, then silence until the client disconnects
	modelNumbered  = "bench-number-"   // with a number at the end: as modelWhole
)

// upstreamModels are all of them.
var upstreamModels = []string{modelWhole, modelCoalesced, modelPaced, modelHeld, modelMasked}

const (
	upstreamKeyVar = "UPSTREAM_KEY"

	// pace is the interval of paced events: a fast model's tokens.
	pace = 20 * time.Millisecond
	// maxHold ends a held stream whose client never disconnects.
	maxHold = 5 * time.Minute
	// readSize is enough for the whole body of a stream request, in which the upstream looks for
	// include_usage, and keeps the reads of large bodies few.
	readSize = 64 << 10

	chatPath       = "/v1/chat/completions"
	chatPathSecond = "/api/v1/chat/completions"
	responsesPath  = "/v1/responses"
	messagesPath   = "/v1/messages"
	geminiPath     = "/v1/models/" + modelCoalesced + ":streamGenerateContent"
)

// upstream is a cheap provider: it drains the request, checks that it is complete, and writes bytes
// encoded before.
type upstream struct {
	authorization string // required from a caller that has removed the prefix of the model
	chat          template
	embeddings    template
	transcript    template
	tool          template
	responses     template
	messages      []byte
	gemini        []byte
	events        map[bool][]byte   // by whether usage was requested: a coalesced stream
	paced         map[bool][][]byte // the same: one write each
	buffers       sync.Pool
}

func newUpstream(key string) *upstream {
	u := &upstream{
		authorization: "Bearer " + key,
		chat:          chatAnswer(),
		embeddings:    embeddingsAnswer(),
		transcript:    transcriptAnswer(),
		tool:          toolAnswer(),
		responses:     responseEvents(),
		messages:      messageEvents(),
		gemini:        geminiEvents(),
		events:        map[bool][]byte{},
		paced:         map[bool][][]byte{},
		buffers:       sync.Pool{New: func() any { b := make([]byte, readSize); return &b }},
	}
	for _, usage := range []bool{false, true} {
		u.events[usage] = append(bytes.Join(chatEvents(coalescedEvents, usage), nil), chatEnd(usage)...)
		paced := chatEvents(pacedEvents, usage)
		paced[pacedEvents-1] = append(paced[pacedEvents-1], chatEnd(usage)...)
		u.paced[usage] = paced
	}
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "the bench upstream takes POST only", http.StatusMethodNotAllowed)
		return
	}
	if r.TLS != nil && r.ProtoMajor != 2 {
		http.Error(w, "over TLS the bench upstream takes HTTP/2 only", http.StatusHTTPVersionNotSupported)
		return
	}
	buf := u.buffers.Get().(*[]byte)
	defer u.buffers.Put(buf)
	head, length, err := drain(r.Body, *buf)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Path == geminiPath && "Bearer "+r.Header.Get("X-Goog-Api-Key") == u.authorization { // the body names no model
		u.writeStream(w, u.gemini)
		return
	}
	if r.URL.Path == toolPath { // the body names no model
		writeAnswer(w, u.tool, length)
		return
	}
	model, err := modelOf(head)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, name, asked := strings.Cut(model, "/")
	if !asked {
		name = model
	}
	if !asked && r.Header.Get("Authorization") != u.authorization && "Bearer "+r.Header.Get("X-Api-Key") != u.authorization {
		http.Error(w, "a renamed model needs the provider's key", http.StatusUnauthorized)
		return
	}
	usage := bytes.Contains(head, []byte(`"include_usage":true`))

	switch {
	case r.URL.Path == responsesPath:
		u.writeStream(w, u.responses.appendTo(nil, newID()))
	case r.URL.Path == messagesPath:
		u.writeStream(w, u.messages)
	case r.URL.Path == embeddingsPath:
		writeAnswer(w, u.embeddings, length)
	case r.URL.Path == transcriptsPath:
		writeAnswer(w, u.transcript, length)
	case r.URL.Path != chatPath && r.URL.Path != chatPathSecond:
		http.NotFound(w, r)
	case name == modelWhole, strings.HasPrefix(name, modelNumbered):
		writeAnswer(w, u.chat, length)
	case name == modelCoalesced:
		u.writeStream(w, u.events[usage])
	case name == modelPaced:
		u.writePaced(w, r, u.paced[usage])
	case name == modelHeld:
		u.hold(w, r)
	case name == modelMasked:
		u.answerCanary(w, head)
	default:
		http.Error(w, fmt.Sprintf("no such model: %q", model), http.StatusNotFound)
	}
}

func writeAnswer(w http.ResponseWriter, t template, length int64) {
	answer := t.appendTo(nil, strconv.AppendInt(nil, length, 10))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
}

func (u *upstream) writeStream(w http.ResponseWriter, events []byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Write(events)
	http.NewResponseController(w).Flush()
}

func (u *upstream) writePaced(w http.ResponseWriter, r *http.Request, events [][]byte) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for i, event := range events {
		if i > 0 {
			select {
			case <-ticker.C:
			case <-r.Context().Done():
				return
			}
		}
		u.writeStream(w, event)
	}
}

func (u *upstream) hold(w http.ResponseWriter, r *http.Request) {
	u.writeStream(w, u.paced[false][0])
	timeout := time.NewTimer(maxHold)
	defer timeout.Stop()
	select {
	case <-r.Context().Done():
	case <-timeout.C:
	}
}

// drain reads a body to its end. It returns the first bytes, as far as they fit into buf, and the
// length. A truncated body, or one that is not an object, is an error.
func drain(body io.Reader, buf []byte) (head []byte, length int64, err error) {
	n, err := io.ReadFull(body, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, 0, fmt.Errorf("reading the body: %w", err)
	}
	whole := err != nil
	head, length = buf[:n], int64(n)
	last := byte(0)
	if n > 0 {
		last = buf[n-1]
	}
	if !whole {
		// The head must stay, because the model and the options of a stream are in it; the rest of
		// the buffer takes the rest of the body.
		head = buf[:len(buf)/2]
		for rest := buf[len(buf)/2:]; ; {
			n, err := body.Read(rest)
			if n > 0 {
				length, last = length+int64(n), rest[n-1]
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, 0, fmt.Errorf("reading the body: %w", err)
			}
		}
	}
	if last != '}' && last != '-' { // of a form
		return nil, 0, fmt.Errorf("a body of %d bytes ends with %q", length, last)
	}
	return head, length, nil
}

// modelOf finds the model near the start of a body, where this bench puts it.
func modelOf(head []byte) (string, error) {
	const maxDistance = 512
	whole := head
	head = head[:min(len(head), maxDistance)]
	_, rest, ok := bytes.Cut(head, []byte(`"model":"`))
	if name := modelOfForm(head); !ok && name != "" {
		return name, nil
	}
	if !ok { // a gateway has rewritten the body
		if rest = modelAnywhere(whole); rest == nil {
			return "", errors.New("no model in the body")
		}
	}
	name, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return "", errors.New("the model's name does not end")
	}
	return string(name), nil
}

func newID() []byte {
	var raw [8]byte
	rand.Read(raw[:])
	return hex.AppendEncode(nil, raw[:])
}

// serveUpstream serves on two free ports of the loopback, the second over TLS with that certificate
// and HTTP/2. It writes the addresses as one line, and ends with its standard input: it cannot
// outlive its parent.
func serveUpstream(stdin io.Reader, stdout io.Writer, key, certFile, keyFile string) error {
	if key == "" {
		return fmt.Errorf("%s is not set", upstreamKeyVar)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newUpstream(key), ReadHeaderTimeout: ioTimeout}
	served := make(chan error, 2)
	go func() { served <- server.Serve(plain) }()
	go func() { served <- server.ServeTLS(secure, certFile, keyFile) }()
	if _, err := fmt.Fprintln(stdout, plain.Addr(), secure.Addr()); err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, stdin)
		server.Close()
	}()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
