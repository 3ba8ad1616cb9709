// Package client asks an MCP server which tools it has, in the era that the server is of. It knows no
// network: a [Sender] carries its requests.
//
//	c, err := client.Connect(ctx, send)
//	defer c.Close(ctx)
//	tools, err := c.Tools(ctx)
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// Bounds of what a server can make the client read.
const (
	maxAnswer = 8 << 20 // bytes of one message
	maxEvents = 10_000  // of a stream, before its answer
	maxPages  = 1_000   // of a list
)

// Sender sends a request with an HTTP method, a header and a body.
type Sender func(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error)

// Client is a connection to a server. It is not safe for concurrent use.
type Client struct {
	// Version is the version of the protocol that both speak.
	Version string

	send    Sender
	session string
	lastID  int
}

// Tool is a tool of a server.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Error is an answer that is no result.
type Error struct {
	Status  int    // of HTTP
	Code    int    // of JSON-RPC, 0 if the answer had no such error
	Message string // the server's own words
	data    struct{ Supported []string }
}

// Error implements error. It has none of the server's words.
func (e *Error) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("the MCP server answered with error %d", e.Code)
	}
	return fmt.Sprintf("the MCP server answered with HTTP status %d", e.Status)
}

// errAnswer is the error of an answer that cannot be read.
var errAnswer = errors.New("the MCP server's answer is not of the protocol")

// object is a JSON object.
type object = map[string]any

// self is how the client names itself.
var self = object{"name": "gatehouse", "version": "1"}

// Connect finds out the era of a server: it asks as of 2026-07-28, and begins a session if the server
// does not know that version. The error of a server that refuses is an [*Error].
func Connect(ctx context.Context, send Sender) (*Client, error) {
	c := &Client{send: send, Version: mcp.Latest}
	supported, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(supported, mcp.Latest) {
		return c, nil
	}
	return c, c.initialize(ctx)
}

// Supported returns which versions of [mcp.Versions] a server has, newest first. A server that does not
// know the newest, and does not say which it has, may have each of the older ones.
func Supported(ctx context.Context, send Sender) ([]string, error) {
	c := &Client{send: send, Version: mcp.Latest}
	supported, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(mcp.Versions(), func(v string) bool { return !slices.Contains(supported, v) }), nil
}

// discover asks which versions a server has, as of the newest one.
func (c *Client) discover(ctx context.Context) ([]string, error) {
	var discovered struct {
		Supported []string `json:"supportedVersions"`
	}
	err := c.request(ctx, "server/discover", object{}, &discovered)
	refused, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return discovered.Supported, nil
	case !ok || !refused.older():
		return nil, err
	case refused.Code == mcp.CodeUnsupportedVersion:
		return refused.data.Supported, nil
	}
	return mcp.Versions()[1:], nil
}

// List connects to a server, and returns its tools and the version of the protocol that both speak.
func List(ctx context.Context, send Sender) (version string, tools []Tool, err error) {
	c, err := Connect(ctx, send)
	if err != nil {
		return "", nil, err
	}
	tools, err = c.Tools(ctx)
	return c.Version, tools, errors.Join(err, c.Close(ctx))
}

// older reports whether the answer to server/discover is of a server that does not know the version:
// any refusal of the request itself, but an error that only newer servers have.
func (e *Error) older() bool {
	switch {
	case e.Code == mcp.CodeUnsupportedVersion:
		return slices.ContainsFunc(e.data.Supported, func(v string) bool { return slices.Contains(mcp.Versions()[1:], v) })
	case e.Code <= mcp.CodeHeaderMismatch && e.Code >= mcp.CodeUnsupportedVersion:
		return false
	}
	return e.Code != 0 || e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound ||
		e.Status == http.StatusMethodNotAllowed
}

// initialize begins a session.
func (c *Client) initialize(ctx context.Context) error {
	var begun struct {
		Version string `json:"protocolVersion"`
	}
	c.Version = "" // not agreed on
	if err := c.request(ctx, "initialize", object{"protocolVersion": mcp.LatestSessions,
		"capabilities": object{}, "clientInfo": self}, &begun); err != nil {
		return err
	}
	if !slices.Contains(mcp.Versions()[1:], begun.Version) {
		return errAnswer
	}
	c.Version = begun.Version
	resp, err := c.post(ctx, object{"jsonrpc": "2.0", "method": "notifications/initialized"}, "")
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// Tools returns the tools of all pages, at most [mcp.MaxTools].
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	params := object{}
	for range maxPages {
		var page struct {
			Tools []Tool
			Next  string `json:"nextCursor"`
		}
		if err := c.request(ctx, "tools/list", params, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Tools...); len(all) > mcp.MaxTools {
			return nil, mcp.ErrTools
		}
		if page.Next == "" {
			return all, nil
		}
		params = object{"cursor": page.Next}
	}
	return nil, mcp.ErrTools
}

// Close ends the session, if there is one. A server that does not let clients do so is no error.
func (c *Client) Close(ctx context.Context) error {
	if c.session == "" {
		return nil
	}
	resp, err := c.send(ctx, http.MethodDelete, c.header(), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (c *Client) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.Version != "" {
		h.Set(mcp.HeaderVersion, c.Version)
	}
	if c.session != "" {
		h.Set(mcp.HeaderSession, c.session)
	}
	return h
}

func (c *Client) post(ctx context.Context, message object, method string) (*http.Response, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	h := c.header()
	if c.Version == mcp.Latest {
		h.Set(mcp.HeaderMethod, method)
	}
	return c.send(ctx, http.MethodPost, h, body)
}

// request sends a request and decodes its result.
func (c *Client) request(ctx context.Context, method string, params object, result any) error {
	c.lastID++
	if c.Version == mcp.Latest {
		params["_meta"] = object{"io.modelcontextprotocol/protocolVersion": c.Version,
			"io.modelcontextprotocol/clientInfo": self, "io.modelcontextprotocol/clientCapabilities": object{}}
	}
	resp, err := c.post(ctx, object{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params}, method)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if session := resp.Header.Get(mcp.HeaderSession); session != "" {
		c.session = session
	}
	answer, err := c.answer(resp)
	refused := resp.StatusCode < 200 || resp.StatusCode > 299
	switch {
	case answer.Error != nil:
		e := &Error{Status: resp.StatusCode, Code: answer.Error.Code, Message: answer.Error.Message}
		_ = json.Unmarshal(answer.Error.Data, &e.data) // of other errors it may be anything
		return e
	case refused:
		return &Error{Status: resp.StatusCode}
	case err != nil:
		return err
	case json.Unmarshal(answer.Result, result) != nil:
		return errAnswer
	}
	return nil
}

// answer is a response to a request.
type answer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// answer reads up to the answer of the last request.
func (c *Client) answer(resp *http.Response) (answer, error) {
	messages, err := mcp.NewReader(resp.Header, resp.Body, maxAnswer)
	if err != nil {
		return answer{}, err
	}
	defer messages.Release()
	request := &mcp.Message{ID: strconv.AppendInt(nil, int64(c.lastID), 10)}
	for range maxEvents {
		event, err := messages.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return answer{}, err
		}
		if event.Message == nil {
			continue
		}
		m, err := mcp.ParseAnswer(event.Message)
		if err != nil {
			return answer{}, errAnswer
		}
		var a answer
		if m.Answers(request) {
			if json.Unmarshal(event.Message, &a) != nil {
				return answer{}, errAnswer
			}
			return a, nil
		}
	}
	return answer{}, errAnswer
}
