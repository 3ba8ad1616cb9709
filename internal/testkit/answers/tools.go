package answers

import "encoding/json"

// Tool is a tool on offer. Chat nests the function, Responses does not.
type Tool struct {
	Type     string    `json:"type"`
	Function           // flat
	Nested   *Function `json:"function"`
	Tools    []Tool    `json:"tools"` // of a namespace
}

// Function is a tool that can be called.
type Function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// Callable returns the function of the tool, wherever it stands.
func (t Tool) Callable() Function {
	if t.Nested != nil {
		return *t.Nested
	}
	return t.Function
}
