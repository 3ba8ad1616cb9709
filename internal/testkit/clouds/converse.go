package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Converse is Amazon Bedrock's Converse, in front of a provider that has OpenAI's
// API under /v1. The model's id is VENDOR.BEHAVIOUR.
type Converse struct {
	behind http.Handler

	mu       sync.Mutex // guards the following
	requests []Request
}

// NewConverse returns a face of a provider.
func NewConverse(behind http.Handler) *Converse { return &Converse{behind: behind} }

// Requests returns what arrived, oldest first.
func (c *Converse) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.requests...)
}

// bedrockLists are the lists of the control plane, by their address; that of profiles has two pages.
var bedrockLists = map[string]string{
	"/foundation-models?byInferenceType=ON_DEMAND": `{"modelSummaries":[
		{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.echo","modelId":"amazon.echo","modelName":"Echo","outputModalities":["TEXT"],"inferenceTypesSupported":["ON_DEMAND"]},
		{"modelId":"amazon.titan-embed-text-v2:0","modelName":"Titan","outputModalities":["EMBEDDING"]}]}`,
	"/inference-profiles?maxResults=1000": `{"inferenceProfileSummaries":[
		{"inferenceProfileId":"us.amazon.echo","inferenceProfileName":"US Echo","type":"SYSTEM_DEFINED","status":"ACTIVE"}],"nextToken":"a+b="}`,
	"/inference-profiles?maxResults=1000&nextToken=a%2Bb%3D": `{"inferenceProfileSummaries":[
		{"inferenceProfileId":"eu.amazon.echo:0","inferenceProfileName":"EU Echo","type":"SYSTEM_DEFINED","status":"ACTIVE"}]}`,
}

var conversePath = regexp.MustCompile(`^/model/([^/]+)/(converse|converse-stream)$`)

// image is an ImageBlock, content a ContentBlock of the API.
var (
	imageNames   = names{"format": nil, "source": names{"bytes": nil, "s3Location": nil}}
	blockNames   = names{"text": nil, "image": imageNames, "document": names{"format": nil, "name": nil, "source": names{"bytes": nil, "s3Location": nil}}, "cachePoint": names{"type": nil, "ttl": nil}}
	contentBlock = func() names {
		all := names{"toolUse": names{"toolUseId": nil, "name": nil, "input": nil}, "toolResult": names{"toolUseId": nil, "content": blockNames, "status": nil}, "reasoningContent": nil}
		for key, value := range blockNames {
			all[key] = value
		}
		return all
	}()
	converseNames = names{
		"messages": names{"role": nil, "content": contentBlock}, "system": names{"text": nil, "cachePoint": names{"type": nil, "ttl": nil}},
		"inferenceConfig": names{"maxTokens": nil, "temperature": nil, "topP": nil, "stopSequences": nil},
		"toolConfig": names{"tools": names{"toolSpec": names{"name": nil, "description": nil, "inputSchema": names{"json": nil}, "strict": nil}, "cachePoint": names{"type": nil, "ttl": nil}},
			"toolChoice": names{"auto": names{}, "any": names{}, "tool": names{"name": nil}}},
		"outputConfig": names{"textFormat": names{"type": nil, "structure": names{"jsonSchema": names{"schema": nil, "name": nil, "description": nil}}}}, "serviceTier": names{"type": nil}, "additionalModelRequestFields": nil, "guardrailConfig": nil, "performanceConfig": nil,
	}
	toolID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)
)

func (c *Converse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	c.mu.Lock()
	c.requests = append(c.requests, Request{r.URL.RequestURI(), r.Header.Clone(), body})
	c.mu.Unlock()
	if list := bedrockLists[r.URL.RequestURI()]; list != "" && r.Header.Get("Authorization") != "" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, list)
		return
	}
	if found := invokePath.FindStringSubmatch(r.URL.EscapedPath()); found != nil {
		embedOnBedrock(w, r, found[1], body)
		return
	}
	if found := countPath.FindStringSubmatch(r.URL.EscapedPath()); found != nil {
		countOnBedrock(w, r, found[1], body)
		return
	}
	found := conversePath.FindStringSubmatch(r.URL.EscapedPath())
	if found == nil || strings.Contains(found[1], ":") {
		awsError(w, 404, "UnknownOperationException", "")
		return
	}
	stream := found[2] == "converse-stream"
	var asked map[string]any
	if err := json.Unmarshal(body, &asked); err != nil {
		awsError(w, 400, "SerializationException", "")
		return
	}
	refusal := unknownName(converseNames, asked, "")
	chat := map[string]any{}
	if refusal == "" {
		chat, refusal = chatOfConverse(asked)
	}
	if config, _ := asked["toolConfig"].(map[string]any); strings.Contains(found[1], "nova") && strings.Contains(fmt.Sprint(config["tools"]), "cachePoint") {
		refusal = "This model doesn't support tool caching."
	}
	switch {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		awsError(w, 403, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	case refusal != "":
		awsError(w, 400, "ValidationException", refusal)
		return
	case stream && strings.Contains(r.Header.Get("Accept"), "text/event-stream"): // boto3 sends none
		awsError(w, 400, "ValidationException", "Accept")
		return
	}
	id, _ := url.PathUnescape(found[1])
	chat["model"] = id[strings.LastIndexByte(id, '.')+1:]
	if stream {
		chat["stream"], chat["stream_options"] = true, map[string]any{"include_usage": true}
	}
	text, _ := json.Marshal(chat)
	behind := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(text))
	behind.Header.Set("Content-Type", "application/json")
	out := &converseAnswer{ResponseWriter: w, stream: stream, claude: strings.Contains(id, "anthropic.claude")}
	c.behind.ServeHTTP(out, behind)
	out.end()
}

// chatOfConverse returns the chat completion that is like a request of Converse, or
// why Bedrock refuses that.
func chatOfConverse(asked map[string]any) (chat map[string]any, refusal string) {
	messages := []any{}
	list, _ := asked["messages"].([]any)
	used := false
	before := "assistant"
	for i, v := range list {
		m := v.(map[string]any)
		if m["role"] == before {
			return nil, "A conversation must alternate between user and assistant roles."
		}
		before, _ = m["role"].(string)
		message := map[string]any{"role": before, "content": ""}
		var calls []any
		blocks, _ := m["content"].([]any)
		if len(blocks) == 0 {
			return nil, fmt.Sprintf("messages.%d.content: is empty", i)
		}
		document, text := false, false
		for _, b := range blocks {
			block := b.(map[string]any)
			if t, ok := block["text"].(string); ok {
				if strings.TrimSpace(t) == "" {
					return nil, "The text field in the ContentBlock object is blank. Add text to the text field, and try again."
				}
				message["content"], text = message["content"].(string)+t, true
			}
			document = document || block["document"] != nil
			if thought, ok := block["reasoningContent"].(map[string]any); ok {
				said, _ := thought["reasoningText"].(map[string]any)
				if words, _ := said["text"].(string); said["signature"] != thoughtSignature(words) {
					return nil, "Invalid `signature` in `thinking` block"
				}
			}
			if use, ok := block["toolUse"].(map[string]any); ok {
				used = true
				id := fmt.Sprint(use["toolUseId"])
				if !toolID.MatchString(id) {
					return nil, "toolUseId failed to satisfy constraint"
				}
				input, _ := json.Marshal(use["input"])
				calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": use["name"], "arguments": string(input)}})
			}
			if result, ok := block["toolResult"].(map[string]any); ok {
				messages = append(messages, map[string]any{"role": "tool", "tool_call_id": result["toolUseId"], "content": textsOf(result["content"])})
			}
		}
		if document && !text {
			return nil, "A text block must be included with a document block."
		}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		if len(calls) > 0 || message["content"] != "" {
			messages = append(messages, message)
		}
	}
	if len(list) == 0 || list[0].(map[string]any)["role"] != "user" {
		return nil, "A conversation must start with a user message."
	}
	chat = map[string]any{"messages": messages}
	config, _ := asked["toolConfig"].(map[string]any)
	if used && config == nil {
		return nil, "The toolConfig field must be defined when using toolUse and toolResult content blocks."
	}
	tools, _ := config["tools"].([]any)
	var functions []any
	for _, v := range tools {
		if spec, ok := v.(map[string]any)["toolSpec"].(map[string]any); ok {
			if spec["description"] == "" {
				return nil, "description: length must be at least 1"
			}
			functions = append(functions, map[string]any{"type": "function", "function": map[string]any{"name": spec["name"], "parameters": spec["inputSchema"].(map[string]any)["json"]}})
		}
	}
	if len(functions) > 0 {
		chat["tools"] = functions
	}
	if inference, ok := asked["inferenceConfig"].(map[string]any); ok && inference["maxTokens"] != nil {
		chat["max_tokens"] = inference["maxTokens"]
	}
	if format, ok := asked["outputConfig"].(map[string]any); ok {
		schema := format["textFormat"].(map[string]any)["structure"].(map[string]any)["jsonSchema"].(map[string]any)
		text, _ := schema["schema"].(string)
		chat["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": json.RawMessage(text)}}
	}
	return chat, ""
}
