package mcp

import (
	"net/http"
	"strings"
)

// Method is what a client can call, or notify a server of.
type Method struct {
	Name string
	Eras Era

	// Named is the member of params that says which tool, resource or prompt is meant: "name", "uri",
	// or "" for none. The header Mcp-Name repeats it.
	Named string

	// Open says that the answer is a stream that ends only when one of both leaves.
	Open bool
}

// methods has the requests and notifications of clients. Experimental ones (tasks/*) are not served.
var methods = func() map[string]*Method {
	const both = Stateless | Sessions
	table := map[string]*Method{}
	for _, m := range []Method{
		{Name: "server/discover", Eras: Stateless},
		{Name: "initialize", Eras: Sessions},
		{Name: "ping", Eras: Sessions},
		{Name: "tools/list", Eras: both},
		{Name: "tools/call", Eras: both, Named: "name"},
		{Name: "resources/list", Eras: both},
		{Name: "resources/templates/list", Eras: both},
		{Name: "resources/read", Eras: both, Named: "uri"},
		{Name: "resources/subscribe", Eras: Sessions, Named: "uri"},
		{Name: "resources/unsubscribe", Eras: Sessions, Named: "uri"},
		{Name: "prompts/list", Eras: both},
		{Name: "prompts/get", Eras: both, Named: "name"},
		{Name: "completion/complete", Eras: both},
		{Name: "logging/setLevel", Eras: Sessions},
		{Name: "subscriptions/listen", Eras: Stateless, Open: true},
		{Name: "notifications/initialized", Eras: Sessions},
		{Name: "notifications/cancelled", Eras: both},
		{Name: "notifications/progress", Eras: Sessions},
		{Name: "notifications/roots/list_changed", Eras: Sessions},
	} {
		table[m.Name] = &m
	}
	return table
}()

// ToolsCall is the method that calls a tool.
const ToolsCall = "tools/call"

// notification begins the names of all notifications.
const notification = "notifications/"

// response is the row of a client's answers to the requests of a server.
var response = &Method{Eras: Sessions}

// MethodOf returns the row of m's method. The row of a response has no name. A request that does not
// name what the method needs is an error, and so is a method that the era lacks: with status 404 in the
// stateless era, where a client must be able to tell it from a missing endpoint by its body.
func MethodOf(m *Message, era Era) (*Method, *Error) {
	if m.Kind == Response {
		if era != Sessions {
			return nil, invalid("this version of the protocol has no responses of clients")
		}
		return response, nil
	}
	method := methods[m.Method]
	if method != nil && method.Eras&era != 0 {
		if strings.HasPrefix(m.Method, notification) != (m.Kind == Notification) {
			return nil, invalid("requests have an id, and notifications have none")
		}
		return method, method.checkName(m.Name)
	}
	return nil, NoMethod(m, era)
}

func (m *Method) checkName(name string) *Error {
	switch {
	case m.Named == "" || name != "" && len(name) <= MaxName:
		return nil
	case name != "":
		return badParams(`the member "`+m.Named+`" of params is too long`, 0)
	}
	return badParams(`the member "`+m.Named+`" of params must be a string`, 0)
}

// NoMethod is the answer to a method that is not there. In the stateless era its status is 404.
func NoMethod(m *Message, era Era) *Error {
	err := &Error{Code: CodeMethodNotFound, Message: "method not found", Status: http.StatusNotFound}
	switch {
	case era == Stateless && m.Method == "initialize": // older clients show the message, and nothing else
		err.Message += " in version " + Latest + "; initialize is of " + strings.Join(versions[1:], ", ")
	case era == Sessions && m.Kind == Request:
		err.Status = http.StatusOK
	case era == Sessions:
		err.Status = http.StatusBadRequest
	}
	return err
}
