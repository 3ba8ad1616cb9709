package responsesonchat_test

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
)

// grammar reads the events of a response as the strictest SDK does, and puts the response together
// from them.
type grammar struct {
	sequence int
	id       any
	items    []map[string]any
	done     []bool
	texts    map[string]string // by item and part: what the deltas add up to
	parts    map[string]int    // parts begun, by item
	over     string            // the terminal event
	failed   bool              // the error event came
}

// checkEvents returns what is wrong with a stream that was sent to a client, and its terminal
// event's type.
func checkEvents(out string) (terminal string, err error) {
	g := grammar{texts: map[string]string{}, parts: map[string]int{}}
	if err := translatetest.ReadEvents(out, g.event); err != nil {
		return "", err
	}
	if g.over == "" {
		return "", fmt.Errorf("no terminal event")
	}
	if (g.over == "response.failed") != g.failed {
		return "", fmt.Errorf("%s, and error event: %v", g.over, g.failed)
	}
	return g.over, nil
}

func (g *grammar) event(e map[string]any) error {
	if e["sequence_number"] != float64(g.sequence) {
		return fmt.Errorf("sequence_number is not %d", g.sequence)
	}
	g.sequence++
	typ := e["type"].(string)
	switch {
	case g.over == "response.failed" && typ == "error" && !g.failed:
		g.failed = true
		return nil
	case g.over != "":
		return fmt.Errorf("an event after %s", g.over)
	case g.sequence == 1 && typ != "response.created", g.sequence == 2 && typ != "response.in_progress":
		return fmt.Errorf("wrong start")
	}
	if response, ok := e["response"].(map[string]any); ok {
		return g.response(typ, response)
	}
	index := int(e["output_index"].(float64))
	if typ == "response.output_item.added" {
		return g.added(index, e["item"].(map[string]any))
	}
	if index >= len(g.items) || g.done[index] {
		return fmt.Errorf("no open item %d", index)
	}
	item := g.items[index]
	if typ == "response.output_item.done" {
		return g.itemDone(index, e["item"].(map[string]any))
	}
	if e["item_id"] != item["id"] {
		return fmt.Errorf("item_id is not %v", item["id"])
	}
	return g.inside(typ, item, e)
}

func (g *grammar) response(typ string, r map[string]any) error {
	if g.id == nil {
		g.id = r["id"]
	}
	status := strings.TrimPrefix(typ, "response.")
	if status == "created" {
		status = "in_progress"
	}
	if r["id"] != g.id || r["status"] != status || r["object"] != "response" {
		return fmt.Errorf("wrong head of the response")
	}
	for _, key := range []string{"created_at", "error", "incomplete_details", "instructions", "model", "tools", "output",
		"parallel_tool_calls", "metadata", "tool_choice", "temperature", "top_p", "usage", "text", "completed_at"} {
		if _, ok := r[key]; !ok {
			return fmt.Errorf("the response has no %s", key)
		}
	}
	output := r["output"].([]any)
	if status == "in_progress" {
		if len(output) > 0 || r["usage"] != nil {
			return fmt.Errorf("output before its time")
		}
		return nil
	}
	g.over = typ
	if (status == "failed") != (r["error"] != nil) || (status == "incomplete") != (r["incomplete_details"] != nil) {
		return fmt.Errorf("%s does not fit its details", status)
	}
	if len(output) != len(g.items) {
		return fmt.Errorf("%d items, and %d in the output", len(g.items), len(output))
	}
	for i, v := range output {
		item := v.(map[string]any)
		if item["id"] != g.items[i]["id"] {
			return fmt.Errorf("item %d changed its id", i)
		}
		if status != "failed" && (!g.done[i] || !reflect.DeepEqual(item, g.items[i])) {
			return fmt.Errorf("item %d is not as it was done: %v", i, item)
		}
	}
	return nil
}

func (g *grammar) added(index int, item map[string]any) error {
	if index != len(g.items) || item["status"] != "in_progress" {
		return fmt.Errorf("item %d added as %d", len(g.items), index)
	}
	for _, other := range g.items {
		if other["id"] == item["id"] {
			return fmt.Errorf("a second item %v", item["id"])
		}
	}
	for _, key := range []string{"content", "summary"} {
		if list, ok := item[key].([]any); ok && len(list) > 0 {
			return fmt.Errorf("%s before its time", key)
		}
	}
	for _, key := range []string{"arguments", "input"} {
		if text, ok := item[key].(string); ok && text != "" {
			return fmt.Errorf("%s before its time", key)
		}
	}
	g.items = append(g.items, item)
	g.done = append(g.done, false)
	return nil
}

func (g *grammar) itemDone(index int, item map[string]any) error {
	id := g.items[index]["id"]
	if item["id"] != id || item["status"] == "in_progress" {
		return fmt.Errorf("wrong item done")
	}
	var all []string
	for _, key := range []string{"content", "summary"} {
		list, _ := item[key].([]any)
		for _, p := range list {
			all = append(all, partText(p.(map[string]any)))
		}
	}
	switch item["type"] {
	case "function_call":
		all = append(all, item["arguments"].(string))
	case "custom_tool_call":
		all = append(all, item["input"].(string))
	}
	if lists := item["content"] != nil || item["summary"] != nil; lists && len(all) != g.parts[id.(string)] {
		return fmt.Errorf("%d parts of %d", len(all), g.parts[id.(string)])
	}
	for i, text := range all {
		if got := g.texts[fmt.Sprint(id, i)]; got != text {
			return fmt.Errorf("part %d has %q, its deltas %q", i, text, got)
		}
	}
	g.items[index], g.done[index] = item, true
	return nil
}

func partText(p map[string]any) string {
	if text, ok := p["refusal"].(string); ok {
		return text
	}
	return p["text"].(string)
}

// inside takes the events between added and done of an item.
func (g *grammar) inside(typ string, item, e map[string]any) error {
	id := item["id"].(string)
	number := 0
	switch item["type"] {
	case "message":
		number = int(e["content_index"].(float64))
	case "reasoning":
		number = int(e["summary_index"].(float64))
	}
	key := fmt.Sprint(id, number)
	if strings.HasSuffix(typ, "part.added") {
		if number != g.parts[id] || partText(e["part"].(map[string]any)) != "" {
			return fmt.Errorf("part %d of %d added", number, g.parts[id])
		}
		g.parts[id]++
		return nil
	}
	if !strings.HasSuffix(item["type"].(string), "_call") && number != g.parts[id]-1 {
		return fmt.Errorf("part %d is not open", number)
	}
	whole := ""
	switch typ {
	case "response.output_text.delta":
		if _, ok := e["logprobs"].([]any); !ok {
			return fmt.Errorf("no logprobs")
		}
		fallthrough
	case "response.refusal.delta", "response.reasoning_summary_text.delta", "response.function_call_arguments.delta",
		"response.custom_tool_call_input.delta":
		g.texts[key] += e["delta"].(string)
		return nil
	case "response.output_text.annotation.added":
		return nil
	case "response.output_text.done", "response.reasoning_summary_text.done":
		whole = e["text"].(string)
	case "response.refusal.done":
		whole = e["refusal"].(string)
	case "response.function_call_arguments.done":
		whole = e["arguments"].(string)
		if e["name"] != item["name"] {
			return fmt.Errorf("wrong name")
		}
	case "response.custom_tool_call_input.done":
		whole = e["input"].(string)
	case "response.content_part.done", "response.reasoning_summary_part.done":
		whole = partText(e["part"].(map[string]any))
	default:
		return fmt.Errorf("unknown event")
	}
	if whole != g.texts[key] {
		return fmt.Errorf("done with %q, the deltas were %q", whole, g.texts[key])
	}
	return nil
}
