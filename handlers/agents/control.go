package agents

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
)

// controlScopes let a key see who holds the input of a workstation, and ask for a person.
const controlScopes = keys.WorkstationsConnect | keys.WorkstationsManage | keys.WorkstationsAutomate

// serveControl tells who holds the input of a workstation, and which agents wait for a person.
func serveControl(x *handlers.Request) error {
	service, err := controlled(x, controlScopes)
	if err != nil {
		return err
	}
	c, err := service.Input.Of(x.Req.Caller.Tenant, x.Name)
	return replyControl(x, c, err)
}

// changeControl takes the input for a person, returns it, or asks for a person.
func changeControl(x *handlers.Request) error {
	var action, note, session string
	err := x.ReadOptions(func(name string, value []byte) (bool, error) {
		switch name {
		case "action":
			return handlers.Option(name, value, &action, controlActions)
		case "note":
			return handlers.Option(name, value, &note, "a string")
		case "session_id":
			return handlers.Option(name, value, &session, "the id of a session")
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	change := controlChanges[action]
	if change.make == nil {
		return apierror.New(apierror.InvalidValue, "action: want %s", controlActions).WithParam("action")
	}
	service, err := controlled(x, change.scopes)
	if err != nil {
		return err
	}
	if x.Req.Caller.Has(keys.WorkstationsAutomate) && change.admit != nil {
		screens, err := handlers.Part[*screencall.Screens](x)
		if err != nil {
			return err
		}
		if note, err = change.admit(screens, x.Req, note); err != nil {
			return err
		}
	}
	c, err := change.make(service.Input, handlers.Issuer(x), controlChange{
		workstation: x.Name, note: note, session: session, manages: x.Req.Caller.Has(keys.WorkstationsManage),
	})
	return replyControl(x, c, err)
}

const controlActions = `"take", "return" or "request_help"`

// controlChange is what a request says of a change.
type controlChange struct {
	workstation, note, session string
	manages                    bool
}

// controlChanges are the actions, and the scopes of which a key needs one. An agent's key alone
// neither takes nor returns what a person has. What else holds for such a key is admit, which
// returns the note.
var controlChanges = map[string]struct {
	scopes keys.Scope
	admit  func(s *screencall.Screens, q *request.Request, note string) (string, error)
	make   func(p *desktop.Inputs, by desktop.Issuer, c controlChange) (desktop.Control, error)
}{
	"take": {keys.WorkstationsConnect, (*screencall.Screens).MayTake, func(p *desktop.Inputs, by desktop.Issuer, c controlChange) (desktop.Control, error) {
		return p.Take(by, c.workstation, c.session)
	}},
	"return": {keys.WorkstationsConnect | keys.WorkstationsManage, nil, func(p *desktop.Inputs, by desktop.Issuer, c controlChange) (desktop.Control, error) {
		return p.Return(by, c.workstation, c.manages)
	}},
	"request_help": {controlScopes, (*screencall.Screens).AdmitHelp, func(p *desktop.Inputs, by desktop.Issuer, c controlChange) (desktop.Control, error) {
		return p.RequestHelp(by, c.workstation, c.note)
	}},
}

// controlled returns the service for a key with one of the scopes.
func controlled(x *handlers.Request, scopes keys.Scope) (*desktop.Service, error) {
	if x.Req.Caller.Key.Scopes&scopes == 0 {
		if err := x.Req.Require(keys.WorkstationsConnect); err != nil {
			return nil, err
		}
	}
	return x.Workstations()
}

func replyControl(x *handlers.Request, c desktop.Control, err error) error {
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, c)
}
