//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// peerCases are the calls with which all gateways are compared.
func peerCases() []benchCase {
	of := func(name string, size int, model string, stream bool, check check) benchCase {
		return benchCase{name: name, size: size, conns: smallConns, model: model, stream: stream, check: check}
	}
	return []benchCase{
		of("req-1k", kib, modelWhole, false, checkPeerWhole),
		of("req-32k", 32*kib, modelWhole, false, checkPeerWhole),
		of("sse-64", kib, modelCoalesced, true, checkPeerStream),
	}
}

// peerLoad builds the call of a case. The zero peer stands for the servers of the fleet.
func (c benchCase) peerLoad(f *fleet, s *server, p peer) (load, error) {
	prefix, key, headers := providerPrefix, f.secrets.gateway, ""
	if p.name != "" {
		prefix, key = p.model, p.key(f.secrets)
		if p.headers != nil {
			headers = p.headers(f.upstream.addr)
		}
	}
	body, err := chatBody(prefix+c.model, c.stream, c.size, f.opts.Prompt)
	if err != nil {
		return load{}, err
	}
	request := encode(s.addr, chatPath, key, body)
	first := bytes.IndexByte(request, '\n') + 1
	request = append(append(append([]byte{}, request[:first]...), headers...), request[first:]...)
	return load{request: request, sent: len(body), check: c.check}, nil
}

// peerChunk is what all gateways must preserve of a chat answer or of one event.
type peerChunk struct {
	Choices []struct {
		Message, Delta struct{ Content string }
		Finish         string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt int `json:"prompt_tokens"`
	}
}

// checkPeerWhole expects the upstream's text, and that the upstream has received at least the
// request: gateways may write a body in their own way.
func checkPeerWhole(a answer, sent int, _ string) error {
	if err := checkHead(a, http.StatusOK, "application/json"); err != nil {
		return err
	}
	var got peerChunk
	if err := json.Unmarshal(a.body, &got); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if len(got.Choices) != 1 || got.Choices[0].Message.Content != words(answerWords) || got.Choices[0].Finish != "stop" {
		return fmt.Errorf("another answer than the upstream's: %q", shorten(a.body))
	}
	if got.Usage == nil || got.Usage.Prompt < sent*9/10 || got.Usage.Prompt > 2*sent {
		return fmt.Errorf("the usage does not show that the upstream received %d bytes: %q", sent, a.body[max(0, len(a.body)-shownBytes):])
	}
	return nil
}

// streamText is the text of the upstream's stream.
var streamText = streamedText(bytes.Join(chatEvents(coalescedEvents, false), nil))

// streamedText joins the text of the events of a chat stream.
func streamedText(stream []byte) string {
	var text strings.Builder
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: {"))
		if !ok {
			continue
		}
		var event peerChunk
		if json.Unmarshal(append([]byte("{"), data...), &event) != nil {
			return "an event that is no JSON"
		}
		for _, choice := range event.Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	return text.String()
}

// checkPeerStream expects the upstream's text in about as many events, and the end mark.
func checkPeerStream(a answer, _ int, _ string) error {
	if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
		return err
	}
	if n := bytes.Count(a.body, []byte("data: {")); n < coalescedEvents-2 || n > coalescedEvents+2 {
		return fmt.Errorf("%d events instead of about %d", n, coalescedEvents)
	}
	if got := streamedText(a.body); got != streamText {
		return fmt.Errorf("another text than the upstream's: %q", got)
	}
	if !bytes.HasSuffix(bytes.TrimSpace(a.body), []byte("data: [DONE]")) {
		return fmt.Errorf("the stream of %d bytes does not end with [DONE]", len(a.body))
	}
	return nil
}

// modelAnywhere finds the model in a body that a gateway has written in its own order, nil if there
// is none. Text of a prompt cannot look like it: its quotes are escaped.
func modelAnywhere(body []byte) []byte {
	for _, name := range []string{`"model":"`, `"model": "`} {
		if _, rest, ok := bytes.Cut(body, []byte(name)); ok {
			return rest
		}
	}
	return nil
}
