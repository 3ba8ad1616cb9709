package toresponses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// grammar reads the chunks of a chat stream as the SDKs' accumulators do.
type grammar struct {
	id      any
	roles   int
	message message
	calls   []map[string]string // id, name and arguments put together
	finish  string
	usage   bool
	over    string // how it ended: done, or error
}

type message struct{ content, refusal, reasoning string }

// checkChunks returns what is wrong with a chat stream that was sent to a client, and what it comes
// to.
func checkChunks(out string) (*grammar, error) {
	g := &grammar{}
	if !strings.HasSuffix(out, "\n\n") {
		return g, fmt.Errorf("the last event is not ended: %q", out)
	}
	for _, block := range strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok || strings.Contains(data, "\n") {
			return g, fmt.Errorf("not an event: %q", block)
		}
		if g.over != "" {
			return g, fmt.Errorf("%q after the end (%s)", data, g.over)
		}
		if data == "[DONE]" {
			g.over = "done"
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return g, fmt.Errorf("%q: %w", data, err)
		}
		if err := g.chunk(e); err != nil {
			return g, fmt.Errorf("%w\nat %s", err, data)
		}
	}
	switch {
	case g.over == "":
		return g, fmt.Errorf("no end")
	case g.over == "done" && g.finish == "":
		return g, fmt.Errorf("done without a finish reason")
	}
	return g, nil
}

func (g *grammar) chunk(e map[string]any) error {
	if e["error"] != nil {
		g.over = "error"
		if len(e) == 1 || e["choices"] != nil && e["id"] != nil {
			return nil
		}
		return fmt.Errorf("an error that is neither alone nor a full chunk")
	}
	if g.id == nil {
		g.id = e["id"]
	}
	if e["id"] != g.id || e["object"] != "chat.completion.chunk" || e["model"] != "fake/echo" || e["created"] == nil {
		return fmt.Errorf("wrong head")
	}
	choices := e["choices"].([]any)
	if e["usage"] != nil {
		if len(choices) > 0 || g.usage || g.finish == "" {
			return fmt.Errorf("usage before the finish reason, or twice")
		}
		g.usage = true
		return nil
	}
	if len(choices) != 1 {
		return fmt.Errorf("%d choices", len(choices))
	}
	choice := choices[0].(map[string]any)
	reason, has := choice["finish_reason"]
	if choice["index"] != 0. || !has || g.finish != "" {
		return fmt.Errorf("wrong choice")
	}
	if reason != nil {
		g.finish = reason.(string)
	}
	return g.delta(choice["delta"].(map[string]any), g.finish != "")
}

func (g *grammar) delta(d map[string]any, last bool) error {
	role, has := d["role"]
	if has != (g.roles == 0) || has && role != "assistant" || last && len(d) > 0 {
		return fmt.Errorf("wrong delta")
	}
	if has {
		g.roles++
	}
	text := func(key string, to *string) {
		if s, ok := d[key].(string); ok {
			*to += s
		}
	}
	text("content", &g.message.content)
	text("refusal", &g.message.refusal)
	text("reasoning_content", &g.message.reasoning)
	calls, _ := d["tool_calls"].([]any)
	for _, c := range calls {
		if err := g.call(c.(map[string]any)); err != nil {
			return err
		}
	}
	return nil
}

func (g *grammar) call(c map[string]any) error {
	i := int(c["index"].(float64))
	if i > len(g.calls) || i < 0 {
		return fmt.Errorf("call %d of %d", i, len(g.calls))
	}
	fresh := i == len(g.calls)
	if fresh {
		g.calls = append(g.calls, map[string]string{})
	}
	call := g.calls[i]
	inside, _ := c["function"].(map[string]any)
	argument := "arguments"
	if inside == nil {
		inside, _ = c["custom"].(map[string]any)
		argument = "input"
	}
	if fresh != (c["id"] != nil) || fresh != (inside["name"] != nil) || fresh != (c["type"] != nil) {
		return fmt.Errorf("call %d: id, type and name belong into the first fragment", i)
	}
	for key, value := range map[string]any{"id": c["id"], "name": inside["name"], "arguments": inside[argument]} {
		if s, ok := value.(string); ok {
			call[key] += s
		}
	}
	return nil
}

// content is all that a stream carried, in one line.
func (g *grammar) content() string {
	return fmt.Sprint(g.message, g.calls, g.finish)
}

// contentOf is the same of a whole completion.
func contentOf(t *testing.T, completion []byte) string {
	t.Helper()
	var c struct {
		Choices []struct {
			Message struct {
				Content, Refusal string
				Reasoning        string `json:"reasoning_content"`
				Calls            []struct {
					ID               string
					Function, Custom struct{ Name, Arguments, Input string }
				} `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal(completion, &c); err != nil {
		t.Fatal(err)
	}
	m := c.Choices[0].Message
	g := grammar{message: message{m.Content, m.Refusal, m.Reasoning}, finish: c.Choices[0].Finish}
	for _, call := range m.Calls {
		g.calls = append(g.calls, map[string]string{
			"id": call.ID, "name": call.Function.Name + call.Custom.Name, "arguments": call.Function.Arguments + call.Custom.Input,
		})
	}
	return g.content()
}
