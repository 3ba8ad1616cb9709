// Package mcp knows the wire of the Model Context Protocol over Streamable HTTP, as a gateway needs
// it: which version a request is of, which method it calls, which tool, resource or prompt it names,
// whether its headers say the same as its body, and what of a server's answer a caller may see. It
// reads JSON-RPC messages and edits them in place, so that members it does not know stay as they are.
//
// There are two eras. Since 2026-07-28 each request stands alone ([Stateless]): headers repeat the
// version, the method and the name, so that a proxy can act on them, and must equal the body. Before,
// an initialize request began a session ([Sessions]), with GET for a stream of the server's own
// messages and DELETE for the session's end.
//
//	call, err := mcp.Read(header, body)     // one message, whose headers equal its body
//	allowed := allows(call.Name)            // if call.Method is mcp.ToolsCall
//
//	answers, err := mcp.NewReader(response.Header, response.Body, max)
//	event, err := answers.Next()            // one JSON object, or the next event of a stream
//	a, err := mcp.ParseAnswer(event.Message)
//	shown, err := a.Filter(allows)          // without the tools that the caller may not call
//
// An [*Error] is answered with its HTTP status and [AppendError].
//
// Source: the specification of 2026-07-28, basic/transports/streamable-http and basic/versioning, and
// basic/transports of the older revisions.
package mcp

import (
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Names of headers. Those of the stateless era repeat what the body says.
const (
	HeaderVersion   = "Mcp-Protocol-Version"
	HeaderMethod    = "Mcp-Method"
	HeaderName      = "Mcp-Name"
	HeaderSession   = "Mcp-Session-Id"
	HeaderLastEvent = "Last-Event-Id"
	// HeaderParam begins the names of headers that repeat arguments, as a tool's schema asks for.
	HeaderParam = "Mcp-Param-"
)

// Era is how requests belong together. Its values are bits: a [Method] can be of both.
type Era uint8

// The eras.
const (
	Stateless Era = 1 << iota // 2026-07-28
	Sessions                  // 2025-11-25 and before
)

// Latest is the newest version. It is the only one of the stateless era.
const Latest = "2026-07-28"

// firstVersion is what a request without the header is of: clients of that version send none.
const firstVersion = "2025-03-26"

// LatestSessions is the newest version of the era of sessions: what an initialize request asks for.
const LatestSessions = "2025-11-25"

// versions are newest first. 2024-11-05 had another transport.
var versions = []string{Latest, LatestSessions, "2025-06-18", firstVersion}

// Versions returns the versions that are served, newest first.
func Versions() []string { return slices.Clone(versions) }

// EraOf returns the era and the version of a request by its header MCP-Protocol-Version; without it,
// 2025-03-26. An unknown version, or more than one, is an error with status 400. It is best answered
// after [Parse], with the id of the message.
func EraOf(h http.Header) (Era, string, *Error) {
	version, err := single(h, HeaderVersion)
	switch {
	case err != nil:
		return 0, "", err
	case version == "":
		return Sessions, firstVersion, nil
	case version == Latest:
		return Stateless, version, nil
	case slices.Contains(versions, version):
		return Sessions, version, nil
	}
	return 0, "", Unsupported(version, versions)
}

// Call is a message of a client, with the era of its request and the row of its method.
type Call struct {
	*Message
	Era Era
	Row *Method // has no name for a response
}

// Read reads a POST of a client: [EraOf], [Parse], [CheckHeaders] and [MethodOf]. With an error, the
// call has a message if its id could be read, to be answered with [Call.Refuse].
func Read(h http.Header, body []byte) (Call, *Error) {
	m, err := Parse(body)
	call := Call{Message: m}
	if err != nil {
		return call, err
	}
	if call.Era, _, err = EraOf(h); err != nil {
		return call, err
	}
	if err = CheckHeaders(h, m); err != nil {
		return call, err
	}
	call.Row, err = MethodOf(m, call.Era)
	return call, err
}

// Refuse returns the message that answers the call with e.
func (c Call) Refuse(e *Error) []byte {
	if c.Message == nil {
		return AppendError(nil, nil, e)
	}
	return AppendError(nil, c.ID, e)
}

// maxEchoed bounds the version that a refusal repeats.
const maxEchoed = 64

// Unsupported is the answer to a version that is not served. Clients choose one of those that are.
func Unsupported(version string, served []string) *Error {
	data := []byte(`{"supported":[`)
	for i, v := range served {
		if i > 0 {
			data = append(data, ',')
		}
		data = jsonscan.AppendString(data, v)
	}
	data = append(data, `],"requested":`...)
	data = append(jsonscan.AppendString(data, version[:min(len(version), maxEchoed)]), '}')
	return &Error{Code: CodeUnsupportedVersion, Status: http.StatusBadRequest, Data: data,
		Message: "unsupported protocol version"}
}

// single returns the only value of a header, "" without one. Two values are read differently by
// different servers.
func single(h http.Header, name string) (string, *Error) {
	switch values := h[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return "", mismatch("the header " + name + " occurs more than once")
}
