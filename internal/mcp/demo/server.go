// Package demo is the built-in MCP server. It needs no network and no account: [Server] is an
// [http.RoundTripper] that answers under any address, so that a new gateway can be tried, and tested,
// on the very path that real servers take.
//
//	client := http.Client{Transport: &demo.Server{}}
//
// It serves all versions of [mcp.Versions], without sessions of its own, and has these tools:
//
//   - echo returns its text.
//   - time returns the time in UTC.
//   - slow answers after some seconds, by a stream of events, with progress if the caller asked for
//     it. It stops when the caller leaves.
//   - error always fails.
package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// maxBody is the longest request that is read, in bytes.
const maxBody = 4 << 20

// Server answers requests without a network. The zero value is ready. It may be used by several
// goroutines at once.
//
// Every mistake of the caller is an answer. RoundTrip itself only fails if the request's body cannot
// be read or its context ends.
type Server struct {
	// Now is the clock of the tool time. Default: [time.Now].
	Now func() time.Time
}

var _ http.RoundTripper = (*Server)(nil)

// object is a JSON object.
type object = map[string]any

// RoundTrip implements [http.RoundTripper].
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
		var err error
		if body, err = io.ReadAll(io.LimitReader(req.Body, maxBody+1)); err != nil {
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
	case len(body) > maxBody:
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
			refusal = &mcp.Error{Code: mcp.CodeInvalidParams, Status: http.StatusBadRequest,
				Message: "the params are not what the method takes"}
		}
	}
	var result any
	if refusal == nil {
		result, refusal = s.result(call, &read.Params)
	}
	if refusal != nil {
		return answer(req, refusal.HTTPStatus(), call.Refuse(refusal))
	}
	if seconds, slow := result.(wait); slow {
		return events(req, &stream{ctx: req.Context(), steps: int(seconds), token: read.Params.Meta.ProgressToken,
			result: response(call, text(fmt.Sprintf("That took %d s.", seconds), false))})
	}
	return answer(req, http.StatusOK, response(call, result.(object)))
}

// params are what is read of a request.
type params struct {
	Version   string `json:"protocolVersion"`
	Arguments struct {
		Text    *string
		Seconds *int
	}
	Meta struct {
		ProgressToken json.RawMessage
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// info names the server.
var info = object{"name": "gatehouse-demo", "version": "1.0.0"}

const instructions = "Tools to try a gateway with: echo, time, slow and error."

// result makes the result of a request: an object, or a wait.
func (s *Server) result(call mcp.Call, p *params) (any, *mcp.Error) {
	capabilities := object{"tools": object{}}
	switch call.Method {
	case "initialize":
		version := p.Version
		if !slices.Contains(mcp.Versions()[1:], version) {
			version = mcp.LatestSessions
		}
		return object{"protocolVersion": version, "capabilities": capabilities, "serverInfo": info, "instructions": instructions}, nil
	case "ping":
		return object{}, nil
	case "server/discover":
		return object{"supportedVersions": mcp.Versions(), "capabilities": capabilities, "instructions": instructions,
			"ttlMs": 0, "cacheScope": "public"}, nil
	case "tools/list":
		return object{"tools": tools, "ttlMs": 0, "cacheScope": "public"}, nil
	case mcp.ToolsCall:
		return s.tool(call.Name, p)
	}
	return nil, mcp.NoMethod(call.Message, call.Era)
}

// response is a message with a result, as its era has it.
func response(call mcp.Call, result object) []byte {
	if call.Era == mcp.Stateless {
		result["resultType"] = "complete"
		result["_meta"] = object{"io.modelcontextprotocol/serverInfo": info}
	} else {
		delete(result, "ttlMs")
		delete(result, "cacheScope")
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(call.ID), "result": result})
	if err != nil {
		panic("mcp/demo: encoding: " + err.Error())
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
