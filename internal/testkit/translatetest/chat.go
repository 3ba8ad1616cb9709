package translatetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Chat is what the chunks of a chat stream come to, or a whole completion.
type Chat struct {
	Content, Refusal, Reasoning string
	Calls                       []map[string]string // id, name and arguments put together
	Finish                      string
	Over                        string // how a stream ended: done, or error

	id    any
	roles int
	usage bool
}

// CheckChunks reads a chat stream as the SDKs' accumulators do. It returns what is wrong with a
// chat stream that was sent to a client, and what it comes to.
func CheckChunks(out string) (*Chat, error) {
	g := &Chat{}
	if !strings.HasSuffix(out, "\n\n") {
		return g, fmt.Errorf("the last event is not ended: %q", out)
	}
	for _, block := range strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok || strings.Contains(data, "\n") {
			return g, fmt.Errorf("not an event: %q", block)
		}
		if g.Over != "" {
			return g, fmt.Errorf("%q after the end (%s)", data, g.Over)
		}
		if data == "[DONE]" {
			g.Over = "done"
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
	case g.Over == "":
		return g, fmt.Errorf("no end")
	case g.Over == "done" && g.Finish == "":
		return g, fmt.Errorf("done without a finish reason")
	}
	return g, nil
}

func (g *Chat) chunk(e map[string]any) error {
	if e["error"] != nil {
		g.Over = "error"
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
		if len(choices) > 0 || g.usage || g.Finish == "" {
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
	if choice["index"] != 0. || !has || g.Finish != "" {
		return fmt.Errorf("wrong choice")
	}
	if reason != nil {
		g.Finish = reason.(string)
	}
	return g.delta(choice["delta"].(map[string]any), g.Finish != "")
}

func (g *Chat) delta(d map[string]any, last bool) error {
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
	text("content", &g.Content)
	text("refusal", &g.Refusal)
	text("reasoning_content", &g.Reasoning)
	calls, _ := d["tool_calls"].([]any)
	for _, c := range calls {
		if err := g.call(c.(map[string]any)); err != nil {
			return err
		}
	}
	return nil
}

func (g *Chat) call(c map[string]any) error {
	i := int(c["index"].(float64))
	if i > len(g.Calls) || i < 0 {
		return fmt.Errorf("call %d of %d", i, len(g.Calls))
	}
	fresh := i == len(g.Calls)
	if fresh {
		g.Calls = append(g.Calls, map[string]string{})
	}
	call := g.Calls[i]
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

// String is all that an answer carries, in one line.
func (g *Chat) String() string {
	return fmt.Sprint(g.Content, g.Refusal, g.Reasoning, g.Calls, g.Finish)
}

// ReadCompletion reads a whole completion.
func ReadCompletion(t testing.TB, completion []byte) *Chat {
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
	g := &Chat{Content: m.Content, Refusal: m.Refusal, Reasoning: m.Reasoning, Finish: c.Choices[0].Finish}
	for _, call := range m.Calls {
		g.Calls = append(g.Calls, map[string]string{
			"id": call.ID, "name": call.Function.Name + call.Custom.Name, "arguments": call.Function.Arguments + call.Custom.Input,
		})
	}
	return g
}
