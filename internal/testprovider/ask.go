package testprovider

import (
	"encoding/json"
	"strings"
)

// ask is what both routes ask for, free of their wire shapes.
type ask struct {
	model    Model
	user     content   // the last user message
	results  []content // tool results that end the conversation
	input    int       // tokens of the whole conversation
	offered  []function
	choice   toolChoice
	format   format
	param    string // name of the format's parameter, for errors
	stop     []string
	limit    *int // output tokens
	limitKey string
}

// format is response_format of chat and text.format of Responses.
type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
	Nested struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// reply is what the model says: either a text, or arguments for a function.
type reply struct {
	function string   // name of the called function; "": text
	tokens   []string // the text or the arguments
	cut      bool     // by a limit of tokens
}

func (r reply) text() string { return strings.Join(r.tokens, "") }

func (a *ask) reply() (reply, error) {
	limit := MaxOutputTokens
	if a.limit != nil {
		if *a.limit < 1 {
			return reply{}, errValue(a.limitKey, "%q is at least 1, not %d", a.limitKey, *a.limit)
		}
		limit = min(limit, *a.limit)
	}
	called, err := a.choice.pick(a.offered)
	if err != nil {
		return reply{}, err
	}
	var r reply
	if called != nil && len(a.results) == 0 {
		arguments := "{}"
		if present(called.Parameters) {
			if arguments, err = exampleJSON(called.Parameters); err != nil {
				return reply{}, errValue("tools", "no example for the parameters of function %q: %v", called.Name, err)
			}
		}
		r.function = called.Name
		r.tokens, r.cut = splitTokens(arguments, limit)
		return r, nil
	}
	text, err := a.text()
	if err != nil {
		return reply{}, err
	}
	r.tokens, r.cut = splitTokens(untilStop(text, a.stop), limit)
	return r, nil
}

// text is the whole text reply in the format asked for.
func (a *ask) text() (string, error) {
	text := a.model.fixed
	switch {
	case len(a.results) > 0:
		var results []string
		for _, r := range a.results {
			results = append(results, r.text)
		}
		text = "The tool answered: " + strings.Join(results, "; ")
	case text == "":
		text = a.user.echo()
	}
	switch a.format.Type {
	case "", "text":
		return text, nil
	case "json_object":
		return objectWith(text), nil
	case "json_schema":
		schema := a.format.Schema
		if !present(schema) {
			schema = a.format.Nested.Schema
		}
		if !present(schema) {
			return objectWith(text), nil
		}
		example, err := exampleJSON(schema)
		if err != nil {
			return "", errValue(a.param, "no example for the schema: %v", err)
		}
		return example, nil
	default:
		return "", errValue(a.param, "unknown format: %q", a.format.Type)
	}
}

// objectWith is the reply where JSON is asked for without a schema.
func objectWith(text string) string {
	return `{"reply": ` + quote(text) + `}`
}

// untilStop cuts text before the first stop sequence in it.
func untilStop(text string, stop []string) string {
	for _, s := range stop {
		if s != "" {
			text, _, _ = strings.Cut(text, s)
		}
	}
	return text
}

// present tells a JSON value from an absent or null one.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}
