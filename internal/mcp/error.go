package mcp

import (
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Codes of errors. Those from -32020 to -32099 are the specification's.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeHeaderMismatch     = -32020
	CodeUnsupportedVersion = -32022

	// CodeRefused is the gateway's own refusal: a limit, a guardrail, a key that ended. The
	// specification asks that codes it does not define are outside the range that JSON-RPC
	// reserves, -32768 to -32000.
	CodeRefused = -31000
)

// Error is a JSON-RPC error with the HTTP status that belongs to it.
type Error struct {
	Code    int
	Message string
	Type    string // as OpenAI's API has it, for clients of HTTP; "" for none
	Data    []byte // JSON; nil for none
	Status  int    // of the HTTP answer; 0 is 200
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// HTTPStatus returns the status of the HTTP answer.
func (e *Error) HTTPStatus() int {
	if e.Status == 0 {
		return http.StatusOK
	}
	return e.Status
}

// AppendError appends the JSON-RPC message that answers the request id with e. A nil id is of a
// message that had none, or whose id could not be read: it is null, as JSON-RPC has it. MCP leaves it
// out, but its SDK for Python reads no error without it.
func AppendError(dst, id []byte, e *Error) []byte {
	if id == nil {
		id = []byte("null")
	}
	dst = append(append(append(dst, `{"jsonrpc":"2.0","id":`...), id...), `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = jsonscan.AppendString(append(dst, `,"message":`...), e.Message)
	if e.Type != "" {
		dst = jsonscan.AppendString(append(dst, `,"type":`...), e.Type)
	}
	if e.Data != nil {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, "}}"...)
}

// mismatch is the answer to headers that do not say what the body says.
func mismatch(message string) *Error {
	return &Error{Code: CodeHeaderMismatch, Message: message, Status: http.StatusBadRequest}
}

// invalid is the answer to a body that is no message.
func invalid(message string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: message, Status: http.StatusBadRequest}
}

// UnknownTool is the answer to a call of a tool that is not there, and to one that the caller may not
// call: both look the same. The text is that of the specification's example (server/tools).
func UnknownTool(name string) *Error {
	return &Error{Code: CodeInvalidParams, Message: "Unknown tool: " + name}
}
