package clouds

import (
	"fmt"
	"strings"
)

// names are the members that an object may have: nil for a value of any kind, names
// for an object or a list of objects.
type names map[string]any

// part is a Part of the API.
var part = names{
	"text": nil, "thought": nil, "thoughtSignature": nil, "mediaResolution": names{"level": nil},
	"inlineData": names{"mimeType": nil, "data": nil, "displayName": nil}, "fileData": names{"mimeType": nil, "fileUri": nil, "displayName": nil},
	"functionCall": names{"id": nil, "name": nil, "args": nil},
	"functionResponse": names{"id": nil, "name": nil, "response": nil, "parts": names{
		"inlineData": names{"mimeType": nil, "data": nil}, "fileData": names{"mimeType": nil, "fileUri": nil},
	}},
}

var contentNames = names{"role": nil, "parts": part}

// generateContent is a GenerateContentRequest.
var generateContent = names{
	"contents": contentNames, "systemInstruction": contentNames, "continuationToken": nil, "serviceTier": nil,
	"tools": names{
		"functionDeclarations": names{"name": nil, "description": nil, "parameters": nil, "parametersJsonSchema": nil, "response": nil, "behavior": nil},
		"googleSearch":         names{}, "codeExecution": names{}, "urlContext": names{},
	},
	"toolConfig": names{"functionCallingConfig": names{"mode": nil, "allowedFunctionNames": nil}, "includeServerSideToolInvocations": nil},
	"generationConfig": names{
		"maxOutputTokens": nil, "temperature": nil, "topP": nil, "topK": nil, "seed": nil, "stopSequences": nil, "candidateCount": nil,
		"responseMimeType": nil, "responseSchema": nil, "responseJsonSchema": nil, "responseModalities": nil, "responseLogprobs": nil, "logprobs": nil,
		"presencePenalty": nil, "frequencyPenalty": nil, "thinkingConfig": names{"includeThoughts": nil, "thinkingBudget": nil, "thinkingLevel": nil},
	},
	"safetySettings": names{"category": nil, "threshold": nil}, "cachedContent": nil, "labels": nil,
}

// unknownName returns Google's refusal of the first member that it does not know.
func unknownName(known names, v any, path string) string {
	switch v := v.(type) {
	case []any:
		for i, element := range v {
			if refusal := unknownName(known, element, fmt.Sprintf("%s[%d]", path, i)); refusal != "" {
				return refusal
			}
		}
	case map[string]any:
		for key, value := range v {
			inner, ok := known[camel(key)]
			if !ok {
				return fmt.Sprintf("Unknown name %q at '%s': Cannot find field.", key, path)
			}
			if inner, ok := inner.(names); ok {
				if refusal := unknownName(inner, value, strings.TrimPrefix(path+"."+key, ".")); refusal != "" {
					return refusal
				}
			}
		}
	}
	return ""
}

// camel returns a member as the API documents it: it takes response_mime_type, too.
func camel(key string) string {
	words := strings.Split(key, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:min(1, len(words[i]))]) + words[i][min(1, len(words[i])):]
	}
	return strings.Join(words, "")
}
