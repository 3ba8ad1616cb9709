// Package geminirules refuses requests of generateContent that Google refuses, as far as its SDK for
// Python 3.4.0 (members and kinds), its pages and reports of users tell. It reads JSON by another way
// than the translation that it judges.
package geminirules

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kinds has the members of each kind of object, and the kinds of their values: another object, a list
// of them ("[]…"), or "any", "text", "bytes" and "number".
var kinds = map[string]map[string]string{
	"request": {
		"contents": "[]content", "systemInstruction": "content", "tools": "[]tool", "toolConfig": "toolConfig",
		"generationConfig": "generation", "safetySettings": "[]safety", "serviceTier": "text", "continuationToken": "text",
	},
	"content": {"role": "text", "parts": "[]part"},
	"part": {
		"text": "text", "thought": "any", "thoughtSignature": "bytes", "inlineData": "blob", "fileData": "file",
		"functionCall": "call", "functionResponse": "response", "mediaResolution": "resolution",
	},
	"blob":         {"mimeType": "text", "data": "bytes"},
	"file":         {"mimeType": "text", "fileUri": "text"},
	"resolution":   {"level": "text"},
	"call":         {"id": "text", "name": "text", "args": "any"},
	"response":     {"id": "text", "name": "text", "response": "any", "parts": "[]responsePart"},
	"responsePart": {"inlineData": "blob", "fileData": "file"},
	"tool":         {"functionDeclarations": "[]function", "googleSearch": "empty"},
	"empty":        {},
	"function":     {"name": "text", "description": "text", "parametersJsonSchema": "any"},
	"toolConfig":   {"functionCallingConfig": "calling", "includeServerSideToolInvocations": "any"},
	"calling":      {"mode": "text", "allowedFunctionNames": "any"},
	"safety":       {"category": "text", "threshold": "text", "method": "text"},
	"generation": {
		"maxOutputTokens": "number", "temperature": "number", "topP": "number", "topK": "number", "seed": "number",
		"presencePenalty": "number", "frequencyPenalty": "number", "stopSequences": "any", "responseLogprobs": "any",
		"logprobs": "number", "responseMimeType": "text", "responseJsonSchema": "any", "responseModalities": "any",
		"thinkingConfig": "thinking",
	},
	"thinking": {"includeThoughts": "any", "thinkingBudget": "number", "thinkingLevel": "text"},
}

type object = map[string]any

// Check returns why a model of Google's refuses a request, nil if it takes it.
func Check(model string, body []byte) error {
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		return fmt.Errorf("invalid JSON payload received: %w", err)
	}
	if err := member("request", "", request); err != nil {
		return err
	}
	for _, rule := range []func(string, object) error{conversation, tools, media, signatures, thinking, penalties} {
		if err := rule(model, request); err != nil {
			return err
		}
	}
	return nil
}

// member checks the members of an object, and of those in it.
func member(kind, path string, value any) error {
	if of, list := strings.CutPrefix(kind, "[]"); list {
		elements, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s is not a list", path)
		}
		for i, e := range elements {
			if err := member(of, fmt.Sprintf("%s[%d]", path, i), e); err != nil {
				return err
			}
		}
		return nil
	}
	ok := true
	switch kind {
	case "any":
	case "number":
		_, ok = value.(float64)
	case "text":
		_, ok = value.(string)
	case "bytes":
		var text string
		if text, ok = value.(string); ok && decode(text) != nil {
			return fmt.Errorf("invalid value at '%s' (TYPE_BYTES), Base64 decoding failed", path)
		}
	default:
		var o object
		if o, ok = value.(object); !ok {
			break
		}
		for key, v := range o {
			of, known := kinds[kind][key]
			if !known {
				return fmt.Errorf("unknown name %q at '%s': cannot find field", key, path)
			}
			if err := member(of, strings.TrimPrefix(path+"."+key, "."), v); err != nil {
				return err
			}
		}
	}
	if !ok {
		return fmt.Errorf("invalid value at '%s': %v", path, value)
	}
	return nil
}

// decode reads bytes in either alphabet of base64, with padding or without, as protocol buffers do.
func decode(text string) error {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	_, err := base64.RawStdEncoding.DecodeString(text)
	return err
}

// objects returns the objects of a list in a member.
func objects(o object, key string) (list []object) {
	elements, _ := o[key].([]any)
	for _, e := range elements {
		inner, _ := e.(object)
		list = append(list, inner)
	}
	return list
}

// named returns the objects of the parts of a content that have a member.
func named(content object, key string) (list []object) {
	for _, part := range objects(content, "parts") {
		if inner, ok := part[key].(object); ok {
			list = append(list, inner)
		}
	}
	return list
}

// conversation checks that contents have parts, and calls their answers.
func conversation(_ string, request object) error {
	contents := objects(request, "contents")
	if len(contents) == 0 {
		return fmt.Errorf("contents is not specified")
	}
	for i, content := range contents {
		if len(objects(content, "parts")) == 0 {
			return fmt.Errorf("contents[%d].parts must not be empty", i)
		}
		if role := content["role"]; role != "user" && role != "model" {
			return fmt.Errorf("contents[%d]: please use a valid role: user, model", i)
		}
		results := named(content, "functionResponse")
		if len(results) == 0 {
			continue
		}
		if i == 0 || len(named(contents[i-1], "functionCall")) != len(results) {
			return fmt.Errorf("contents[%d]: the number of function response parts is not that of the function call parts of the turn before", i)
		}
		for n, call := range named(contents[i-1], "functionCall") {
			if call["name"] != results[n]["name"] || call["id"] != results[n]["id"] {
				return fmt.Errorf("contents[%d]: response %d is not to call %v", i, n, call)
			}
		}
	}
	return nil
}

var generation = regexp.MustCompile(`gemini-([12])\.`)

// old reports whether a model is older than Gemini 3.
func old(model string) bool { return generation.MatchString(model) }

// signatures checks that each step of the present turn begins with a signed call, and that no call is
// signed beside the first. Older models do not know ids. Gemini 3's models for images want a signature on
// what they said in any turn.
func signatures(model string, request object) error {
	contents := objects(request, "contents")
	begins := 0
	for i, content := range contents {
		if content["role"] == "user" && len(named(content, "functionResponse")) == 0 {
			begins = i
		}
	}
	for i, content := range contents {
		calls := 0
		for n, part := range objects(content, "parts") {
			call, isCall := part["functionCall"].(object)
			_, isImage := part["inlineData"]
			_, signed := part["thoughtSignature"]
			switch {
			case isCall && old(model) && call["id"] != nil:
				return fmt.Errorf("unknown name %q at 'contents[%d].parts[%d].function_call'", "id", i, n)
			case isCall:
				if calls++; calls == 1 && i > begins && !signed && !old(model) {
					return fmt.Errorf("function call is missing a thought_signature in functionCall parts, position %d", i)
				}
			case content["role"] == "model" && strings.Contains(model, "-image") && !old(model) && !signed && (n == 0 || isImage):
				return fmt.Errorf("image or text part is missing a thought_signature in content position %d, part position %d", i, n)
			}
		}
	}
	return nil
}

// thinking checks that a model can think as it is told to.
func thinking(model string, request object) error {
	config, _ := request["generationConfig"].(object)
	o, some := config["thinkingConfig"].(object)
	_, level := o["thinkingLevel"]
	budget, bounded := o["thinkingBudget"].(float64)
	switch {
	case level && bounded:
		return fmt.Errorf("you can only set only one of thinking budget and thinking level")
	case some && old(model) && (strings.Contains(model, "-image") || strings.Contains(model, "-tts")):
		return fmt.Errorf("thinking is not enabled for %s", model)
	case bounded && budget == 0 && o["includeThoughts"] == true:
		return fmt.Errorf("Thinking_config.include_thoughts is only enabled when thinking is enabled")
	case level && old(model):
		return fmt.Errorf("thinking level is not supported for this model")
	case level && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, o["thinkingLevel"].(string)):
		return fmt.Errorf("invalid value at 'generation_config.thinking_config.thinking_level'")
	}
	return nil
}

// penalties are not enabled from Gemini 3 on.
func penalties(model string, request object) error {
	config, _ := request["generationConfig"].(object)
	if (config["presencePenalty"] != nil || config["frequencyPenalty"] != nil) && !old(model) {
		return fmt.Errorf("penalty is not enabled for this model")
	}
	return nil
}
