package openairules

import (
	"fmt"
	"slices"
	"strings"
)

// Responses returns why OpenAI refuses a request of the Responses API, nil if it takes it.
func Responses(body []byte) error {
	r, err := parse(body)
	if err != nil {
		return err
	}
	if err := r.tools(r.Tools, ""); err != nil {
		return err
	}
	if r.Text.Format["type"] == "json_schema" {
		if err := format(r.Text.Format, "text.format"); err != nil {
			return err
		}
	}
	list, _ := r.Input.([]any)
	items := make([]object, len(list))
	for i := range list {
		items[i], _ = list[i].(object)
	}
	return pairs(items)
}

// pairs checks that each call has its result, and each result its call: "No tool output found for function
// call …", "No tool call found for function call output with call_id …".
func pairs(items []object) error {
	var called []string
	answered := map[string]bool{}
	for i, item := range items {
		kind, _ := item["type"].(string)
		output := strings.HasSuffix(kind, "_call_output")
		if !output && kind != "function_call" && kind != "custom_tool_call" {
			continue
		}
		path := fmt.Sprintf("input[%d]", i)
		if err := id(item["call_id"], path+".call_id"); err != nil {
			return err
		}
		call, _ := item["call_id"].(string)
		if output {
			if !slices.Contains(called, call) {
				return fmt.Errorf("No tool call found for function call output with call_id %s.", call)
			}
			if answered[call] {
				return fmt.Errorf("Duplicate function_call_output for call_id %s.", call)
			}
			answered[call] = true
			continue
		}
		if text, _ := item["name"].(string); !name.MatchString(text) {
			return fmt.Errorf("Invalid '%s.name': %q does not match '%s'", path, text, name)
		}
		called = append(called, call)
	}
	for _, call := range called {
		if !answered[call] {
			return fmt.Errorf("No tool output found for function call %s.", call)
		}
	}
	return nil
}
