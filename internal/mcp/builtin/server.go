// Package builtin is the frame of the MCP servers that are part of the gateway: a [Server] is a table of
// tools, and an [http.RoundTripper] that answers under any address. So a built-in server is on the very
// path that others take, with their rights, limits, guardrails and records.
//
//	client := http.Client{Transport: &builtin.Server{Name: "gatehouse-demo", Tools: tools}}
//
// It serves all versions of [mcp.Versions], without sessions of its own.
package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// MaxBody is the longest request that is read, in bytes.
const MaxBody = 4 << 20

// Server answers requests without a network. It may be used by several goroutines at once.
//
// Every mistake of the caller is an answer. RoundTrip itself only fails if the request's body cannot
// be read or its context ends.
type Server struct {
	Name         string // that it tells clients
	Instructions string // for models
	Tools        []Tool
}

var _ http.RoundTripper = (*Server)(nil)

// Tool is a row of the table of a server.
type Tool struct {
	Name, Description string
	Schema            string // of the arguments: a JSON object
	ReadOnly          bool   // it changes nothing
	// Call runs the tool. Args are JSON, nil without any. Arguments that a model can mend are a failed
	// [Text]; an error is for what is no call of the tool.
	Call func(ctx context.Context, args json.RawMessage) (Result, *mcp.Error)
}

// Result is what a tool answers.
type Result struct {
	Content []any // see Text and Image
	IsError bool  // the tool failed
	Seconds int   // that the answer takes, as a stream of events; 0: at once
}

// Text is the result of a tool that says something.
func Text(text string, failed bool) Result {
	return Result{IsError: failed, Content: []any{object{"type": "text", "text": text}}}
}

// Image is a picture among the content of a result.
func Image(png []byte) any { return object{"type": "image", "mimeType": "image/png", "data": png} }

// object is a JSON object.
type object = map[string]any

// RoundTrip implements [http.RoundTripper].
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
		var err error
		if body, err = io.ReadAll(io.LimitReader(req.Body, MaxBody+1)); err != nil {
			return nil, fmt.Errorf("reading the request body: %w", err)
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	switch {
	case req.Method != http.MethodPost: // no stream of its own messages, and no session to end
		resp := answer(req, http.StatusMethodNotAllowed, nil)
		resp.Header.Set("Allow", http.MethodPost)
		return resp, nil
	case len(body) > MaxBody:
		return answer(req, http.StatusRequestEntityTooLarge, nil), nil
	}
	return s.serve(req, body), nil
}

// serve answers a message.
func (s *Server) serve(req *http.Request, body []byte) *http.Response {
	call, refusal := mcp.Read(req.Header, body)
	var read struct{ Params params }
	if refusal == nil {
		if call.Kind != mcp.Request {
			return answer(req, http.StatusAccepted, nil)
		}
		if json.Unmarshal(body, &read) != nil || call.Era == mcp.Stateless && read.Params.Meta.Capabilities == nil {
			refusal = BadParams()
		}
	}
	var result object
	seconds := 0
	if refusal == nil {
		result, seconds, refusal = s.result(req.Context(), call, &read.Params)
	}
	switch {
	case refusal != nil:
		return answer(req, refusal.HTTPStatus(), call.Refuse(refusal))
	case seconds > 0:
		return events(req, &stream{ctx: req.Context(), steps: seconds, token: read.Params.Meta.ProgressToken, result: s.response(call, result)})
	}
	return answer(req, http.StatusOK, s.response(call, result))
}

// BadParams is the refusal of params, or arguments, of another type than the method or tool takes.
func BadParams() *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInvalidParams, Status: http.StatusBadRequest, Message: "the params are not what the method takes"}
}

// params are what is read of a request.
type params struct {
	Version   string `json:"protocolVersion"`
	Arguments json.RawMessage
	Meta      struct {
		ProgressToken json.RawMessage
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// info names the server.
func (s *Server) info() object { return object{"name": s.Name, "version": "1.0.0"} }

// result makes the result of a request, and says how many seconds it takes.
func (s *Server) result(ctx context.Context, call mcp.Call, p *params) (object, int, *mcp.Error) {
	capabilities := object{"tools": object{}}
	switch call.Method {
	case "initialize":
		version := p.Version
		if !slices.Contains(mcp.Versions()[1:], version) {
			version = mcp.LatestSessions
		}
		return object{"protocolVersion": version, "capabilities": capabilities, "serverInfo": s.info(), "instructions": s.Instructions}, 0, nil
	case "ping":
		return object{}, 0, nil
	case "server/discover":
		return object{"supportedVersions": mcp.Versions(), "capabilities": capabilities, "instructions": s.Instructions,
			"ttlMs": 0, "cacheScope": "public"}, 0, nil
	case "tools/list":
		return object{"tools": s.list(), "ttlMs": 0, "cacheScope": "public"}, 0, nil
	case mcp.ToolsCall:
		i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == call.Name })
		if i < 0 {
			return nil, 0, mcp.UnknownTool(call.Name)
		}
		r, err := s.Tools[i].Call(ctx, p.Arguments)
		return object{"content": r.Content, "isError": r.IsError}, r.Seconds, err
	}
	return nil, 0, mcp.NoMethod(call.Message, call.Era)
}

// list is the list of tools as clients read it.
func (s *Server) list() (all []object) {
	for _, t := range s.Tools {
		tool := object{"name": t.Name, "description": t.Description, "inputSchema": json.RawMessage(t.Schema)}
		if t.ReadOnly {
			tool["annotations"] = object{"readOnlyHint": true}
		}
		all = append(all, tool)
	}
	return all
}

// response is a message with a result, as its era has it.
func (s *Server) response(call mcp.Call, result object) []byte {
	if call.Era == mcp.Stateless {
		result["resultType"] = "complete"
		result["_meta"] = object{"io.modelcontextprotocol/serverInfo": s.info()}
	} else {
		delete(result, "ttlMs")
		delete(result, "cacheScope")
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(call.ID), "result": result})
	if err != nil {
		panic("mcp/builtin: encoding: " + err.Error())
	}
	return text
}

// answer is an HTTP answer with a JSON body, nil for none.
func answer(req *http.Request, status int, body []byte) *http.Response {
	header := http.Header{}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        header,
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(bytes.NewReader(body)),
		Request:       req,
	}
}
