//go:build linux

package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// TestChecksRefuseDamage damages the right answer of each kind in one way, and expects the check to
// notice.
func TestChecksRefuseDamage(t *testing.T) {
	const sent = 1024
	whole := string(chatAnswer().appendTo(nil, []byte("1024")))
	chat := string(bytes.Join(chatEvents(coalescedEvents, false), nil)) + doneEvent
	responses := string(responseEvents().appendTo(nil, newID()))
	first := string(chatEvents(pacedEvents, false)[0])
	cut := func(s string) string { return s[:len(s)-20] }
	lastEvent := strings.LastIndex(responses, "event: ")

	kinds := []struct {
		name, contentType, body string
		status                  int
		check                   check
		damaged                 map[string]string
	}{
		{"whole", "application/json", whole, 200, checkWhole, map[string]string{
			"cut":             cut(whole),
			"no usage":        strings.Replace(whole, "prompt_tokens", "other", 1),
			"half the body":   strings.Replace(whole, `"prompt_tokens":1024`, `"prompt_tokens":512`, 1),
			"too much body":   strings.Replace(whole, `"prompt_tokens":1024`, `"prompt_tokens":2048`, 1),
			"another model":   strings.Replace(whole, `"model":"bench"`, `"model":"up/bench"`, 1),
			"nothing at all":  "",
			"a usage of null": strings.Replace(whole, `"prompt_tokens":1024`, `"prompt_tokens":null`, 1),
		}},
		{"chat stream", "text/event-stream", chat, 200, checkChatStream(coalescedEvents, false), map[string]string{
			"no [DONE]":     strings.TrimSuffix(chat, doneEvent),
			"one event off": chat[strings.Index(chat, "\n\n")+2:],
			"another model": strings.ReplaceAll(chat, `"model":"bench"`, `"model":"x"`),
			"error at end":  strings.Replace(chat, doneEvent, "data: {\"error\":{}}\n\n", 1),
		}},
		{"responses stream", "text/event-stream", responses, 200, checkResponses, map[string]string{
			"cut":              cut(responses),
			"no last event":    responses[:lastEvent],
			"failed":           strings.Replace(responses, "event: response.completed", "event: response.failed", 1),
			"last model wrong": responses[:lastEvent] + strings.Replace(responses[lastEvent:], `"model":"bench"`, `"model":"x"`, 1),
		}},
		{"first event", "text/event-stream", first, 200, checkFirstEvent, map[string]string{
			"another model": strings.Replace(first, `"model":"bench"`, `"model":"x"`, 1),
			"a comment":     ": heartbeat\n\n",
		}},
		{"wrong key", "application/json", refusal, 401, checkUnauthorized, map[string]string{
			"no error object": `{}`,
		}},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			try := func(status int, contentType, body string) error {
				return k.check(answer{status: status, header: http.Header{"Content-Type": {contentType}}, body: []byte(body)}, sent, modelWhole)
			}
			if err := try(k.status, k.contentType+"; charset=utf-8", k.body); err != nil {
				t.Fatalf("the right answer: %v", err)
			}
			if try(500, k.contentType, k.body) == nil {
				t.Error("status 500 passed")
			}
			if try(k.status, "text/html", k.body) == nil {
				t.Error("text/html passed")
			}
			for name, body := range k.damaged {
				if body == k.body {
					t.Fatalf("%s: the damage changed nothing", name)
				}
				if try(k.status, k.contentType, body) == nil {
					t.Errorf("%s passed", name)
				}
			}
		})
	}
}

func TestEditsOfAGatewayAreTolerated(t *testing.T) {
	body := chatAnswer().appendTo(nil, []byte("1070"))
	a := answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: body}
	if err := checkWhole(a, 1024, modelWhole); err != nil {
		t.Error(err)
	}
}
