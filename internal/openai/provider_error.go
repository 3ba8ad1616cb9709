package openai

import (
	"bytes"
	"cmp"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxErrorWord bounds type, code and param of a provider's error.
const maxErrorWord = 128

// ProviderError is what a provider reported about a failure, unredacted. Other fields are empty.
type ProviderError struct {
	Type    string
	Code    string
	Param   string
	Message string

	// Status is the HTTP status in the body (OpenRouter and others put it into `code`), 0 for none.
	Status int

	// Anthropic reports that the body has the form of the Messages API.
	Anthropic bool
}

// Error makes it a cause for the log.
func (e *ProviderError) Error() string {
	return "provider said: type " + quoteOrNone(e.Type) + ", code " + quoteOrNone(e.Code) + ": " + e.Message
}

func quoteOrNone(s string) string {
	if s == "" {
		return "none"
	}
	return string(jsonscan.AppendString(nil, s))
}

// ParseProviderError reads an error body: OpenAI's {"error": {message, type, param, code}},
// OpenRouter's {"error": {code, message, metadata}}, a bare {"error": "text"}, vLLM's flat
// {"object": "error", message, type, code}, Anthropic's {"type": "error", "error": {type, message,
// details}}, Azure's innererror, or any of these as the only element of an array (Gemini). What
// OpenRouter quotes of another provider counts as said. It returns the zero value for plain text and
// HTML, which are not for callers.
func ParseProviderError(body []byte) ProviderError {
	body = bytes.TrimSpace(body)
	if len(body) > 1 && body[0] == '[' && body[len(body)-1] == ']' {
		body = bytes.TrimSpace(body[1 : len(body)-1])
	}
	var e ProviderError
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		return e
	}
	e.Anthropic = string(WalkedObject(body, members).Get("type")) == `"error"`
	if i, ok := jsonscan.Find(body, members, "error"); ok {
		switch value := members[i].Value(body); members[i].Kind {
		case '"':
			e.Message, _ = jsonscan.String(value)
			return e
		case '{':
			body, members = value, jsonscan.Members(value, nil)
		}
	}
	quoted := ""
	for _, m := range members {
		value := m.Value(body)
		switch string(m.DecodedKey(body)) {
		case "message":
			e.Message, _ = jsonscan.String(value)
		case "type":
			e.Type = word(value)
		case "param":
			e.Param = word(value)
		case "code":
			text := word(value)
			n, isNumber := jsonscan.Int(value)
			if !isNumber {
				n, isNumber = jsonscan.Int([]byte(text)) // Azure's "401"
			}
			switch {
			case isNumber && 400 <= n && n <= 599:
				e.Status = int(n)
			case !isNumber && text != "":
				e.Code = text
			}
		case "innererror": // Azure: {"code": "ResponsibleAIPolicyViolation", "content_filter_result"}
			fill(&e.Code, value, "code")
		case "details": // Anthropic
			fill(&e.Code, value, "error_code")
		case "metadata":
			fill(&e.Type, value, "error_type")
			// OpenRouter's moderation answers 403; only these members distinguish it.
			inner := jsonscan.Members(value, nil)
			for _, moderation := range []string{"reasons", "flagged_input"} {
				if _, ok := jsonscan.Find(value, inner, moderation); ok && e.Type == "" {
					e.Type = "content_policy_violation"
				}
			}
			fill(&e.Code, value, "provider_code")
			quoted, _ = jsonscan.String(OpenObject(value, nil).Get("raw"))
		}
	}
	e.quote(quoted)
	return e
}

// quote takes over what OpenRouter quotes of the provider behind it, as JSON or as text. Its own message says
// nothing then.
func (e *ProviderError) quote(raw string) {
	if raw == "" || raw[0] == '<' {
		return
	}
	said := ParseProviderError([]byte(raw))
	e.Message = cmp.Or(said.Message, raw)
	e.Code, e.Type, e.Param = cmp.Or(e.Code, said.Code), cmp.Or(e.Type, said.Type), cmp.Or(e.Param, said.Param)
}

// fill reads a word that an object inside an error has, unless it is known.
func fill(known *string, object []byte, key string) {
	if *known == "" {
		*known = word(OpenObject(object, nil).Get(key))
	}
}

// word reads a short string.
func word(value []byte) string {
	s, _ := jsonscan.String(value)
	if len(s) > maxErrorWord {
		return ""
	}
	return s
}

// truthy reports whether the value of a member `error` means an error. Providers send null, false,
// "" and {} without one.
func truthy(value []byte) bool {
	switch string(value) {
	case "null", "false", `""`, "0", "{}", "[]":
		return false
	}
	return true
}
