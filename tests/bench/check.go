//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A check returns an error if an answer is not the expected one. sent is the length of the request
// body, model the name that the answer must have.
type check func(a answer, sent int, model string) error

// lengthTolerance is how much a gateway's edits may change the length of a body.
const lengthTolerance = 256

// shownBytes is how much of a wrong answer the error shows.
const shownBytes = 300

func checkHead(a answer, status int, contentType string) error {
	if a.status != status {
		return fmt.Errorf("status %d instead of %d: %q", a.status, status, shorten(a.body))
	}
	if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, contentType) {
		return fmt.Errorf("content type %q instead of %q", got, contentType)
	}
	return nil
}

func shorten(b []byte) []byte { return b[:min(len(b), shownBytes)] }

// checkWhole expects a complete chat answer with the requested name and the usage of a body as long
// as the one sent.
func checkWhole(a answer, sent int, model string) error {
	if err := checkHead(a, http.StatusOK, "application/json"); err != nil {
		return err
	}
	if err := checkModel(a.body, model); err != nil {
		return err
	}
	return checkUsage(a.body, `"prompt_tokens":`, sent)
}

// checkUsage expects a whole answer with the length of the body as its tokens.
func checkUsage(body []byte, member string, sent int) error {
	_, rest, _ := bytes.Cut(body, []byte(member))
	digits := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))]
	got, err := strconv.Atoi(string(digits))
	if err != nil {
		return fmt.Errorf("no usage in the answer: %q", shorten(body))
	}
	if got < sent-lengthTolerance || got > sent+lengthTolerance {
		return fmt.Errorf("the upstream received %d bytes of a body of %d", got, sent)
	}
	if !bytes.HasSuffix(bytes.TrimSpace(body), []byte("}")) {
		return fmt.Errorf("the answer is cut: %d bytes", len(body))
	}
	return nil
}

func checkModel(body []byte, model string) error {
	if !bytes.Contains(body, []byte(`"model":"`+model+`"`)) {
		return fmt.Errorf("the answer does not name the model %q: %q", model, shorten(body))
	}
	return nil
}

// checkChatStream returns a check for a chat stream of n events. A gateway may add the usage chunk
// if the API always has it (usage), and nothing else.
func checkChatStream(n int, usage bool) check {
	return func(a answer, _ int, model string) error {
		if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
			return err
		}
		if err := checkModel(a.body, model); err != nil {
			return err
		}
		got := bytes.Count(a.body, []byte("data: {"))
		if got != n && !(usage && got == n+1) {
			return fmt.Errorf("%d events instead of %d", got, n)
		}
		if !bytes.HasSuffix(a.body, []byte(doneEvent)) {
			return fmt.Errorf("the stream of %d bytes does not end with [DONE]", len(a.body))
		}
		return nil
	}
}

// The events that a translation makes of a stream of coalescedEvents: the text deltas, and what each API
// has around them.
const (
	translatedResponses = coalescedEvents - aroundChat + aroundResponses
	translatedChat      = coalescedEvents - aroundResponses + aroundChat
	chatFromMessages    = coalescedEvents - aroundMessages + aroundChat
)

// checkResponses expects all events of a Responses stream up to response.completed.
func checkResponses(a answer, _ int, model string) error {
	return checkResponsesStream(a, model, coalescedEvents)
}

// checkTranslatedResponses expects these events from an upstream that has the API, or from a
// gateway that has translated chat chunks.
func checkTranslatedResponses(a answer, _ int, model string) error {
	if model == modelWhole {
		return checkResponsesStream(a, model, coalescedEvents)
	}
	return checkResponsesStream(a, model, translatedResponses)
}

// checkTranslatedChat is the same for a chat stream.
func checkTranslatedChat(a answer, sent int, model string) error {
	if model == modelWhole {
		return checkChatStream(coalescedEvents, false)(a, sent, model)
	}
	return checkChatStream(translatedChat, false)(a, sent, model)
}

// checkChatFromMessages is the same for an upstream of the Messages API.
func checkChatFromMessages(a answer, sent int, model string) error {
	if model == modelWhole {
		return checkChatStream(coalescedEvents, false)(a, sent, model)
	}
	return checkChatStream(chatFromMessages, false)(a, sent, model)
}

// checkWholeFromGemini expects one chat answer from a gateway, which asks Gemini for a stream, and that
// stream from the others.
func checkWholeFromGemini(a answer, sent int, model string) error {
	if model == modelWhole {
		return checkChatStream(coalescedEvents, false)(a, sent, model)
	}
	if err := checkHead(a, http.StatusOK, "application/json"); err != nil {
		return err
	}
	if want := fmt.Sprintf(`"completion_tokens":%d,`, answerTokens); !bytes.Contains(a.body, []byte(want)) || !bytes.HasSuffix(a.body, []byte("}")) {
		return fmt.Errorf("no whole answer with %s: %q", want, shorten(a.body))
	}
	return checkModel(a.body, model)
}

// checkMessages expects all events of a stream of the Messages API.
func checkMessages(a answer, _ int, model string) error {
	if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
		return err
	}
	if got := bytes.Count(a.body, []byte("event: ")); got != coalescedEvents {
		return fmt.Errorf("%d events instead of %d", got, coalescedEvents)
	}
	if !bytes.HasSuffix(a.body, []byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")) {
		return fmt.Errorf("the stream of %d bytes does not end with message_stop", len(a.body))
	}
	return checkModel(a.body, model)
}

// checkAlias is checkWhole for an alias: the answer names the model behind it.
func checkAlias(a answer, sent int, model string) error {
	if name, ok := strings.CutPrefix(model, aliasPrefix); ok {
		model = providerPrefix + name
	}
	return checkWhole(a, sent, model)
}

func checkResponsesStream(a answer, model string, n int) error {
	if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
		return err
	}
	if err := checkModel(a.body, model); err != nil {
		return err
	}
	if got := bytes.Count(a.body, []byte("event: ")); got != n {
		return fmt.Errorf("%d events instead of %d", got, n)
	}
	final := a.body[bytes.LastIndex(a.body, []byte("event: ")):]
	if !bytes.HasPrefix(final, []byte("event: response.completed\n")) || !bytes.HasSuffix(final, []byte("}\n\n")) {
		return fmt.Errorf("the stream ends with %q", shorten(final))
	}
	return checkModel(final, model)
}

// checkFirstEvent expects one whole event of a stream that continues.
func checkFirstEvent(a answer, _ int, model string) error {
	if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
		return err
	}
	return checkModel(a.body, model)
}

// checkUnauthorized expects a refusal with a body, as an SDK needs it.
func checkUnauthorized(a answer, _ int, _ string) error {
	if err := checkHead(a, http.StatusUnauthorized, "application/json"); err != nil {
		return err
	}
	if !bytes.Contains(a.body, []byte(`"error"`)) {
		return fmt.Errorf("a refusal without an error object: %q", shorten(a.body))
	}
	return nil
}
