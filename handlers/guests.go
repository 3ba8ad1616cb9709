package handlers

import (
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// maxLabel bounds the label of a guest, in bytes: a name in lists.
const maxLabel = 64

// inviteGuest issues an address for a guest of an open session: to the session's own key, or to one with
// workstations:observe too, whose guests only watch.
func inviteGuest(x *Request) error {
	service, sees, err := visibleSessions(x, x.Req.Caller.Tenant, keys.WorkstationsObserve)
	if err != nil {
		return err
	}
	viewOnly := true
	var o desktop.Options
	err = x.ReadOptions(func(name string, value []byte) (bool, error) {
		switch name {
		case "view_only":
			return Option(name, value, &viewOnly, "true or false")
		case "expires_in":
			return expiresIn(name, value, &o.ExpiresIn)
		case "session":
			return sessionRules(value, &o.Rules)
		case "label":
			known, err := Option(name, value, &o.Guest.Label, "a string")
			if err == nil && !isLabel(o.Guest.Label) {
				err = apierror.New(apierror.InvalidValue, "label: want at most %d bytes without control characters", maxLabel).WithParam(name)
			}
			return known, err
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	open := service.OpenSessions(func(s desktop.SessionView) bool { return s.ID == x.Name && sees(s) })
	if len(open) == 0 {
		return apierror.New(apierror.NotFound, "there is no open session %q", x.Name[:min(len(x.Name), maxParamName)])
	}
	host := open[0]
	x.Req.SetWorkstation(host.Workstation)
	x.Req.Trace.SetSession(host.ID)
	if !viewOnly && host.Key != x.Req.Caller.Name {
		return apierror.New(apierror.InvalidValue, "view_only: only the session's own key invites guests who may type").WithParam("view_only")
	}
	o.ViewOnly, o.Guest.Host = &viewOnly, host.ID
	issued, err := issueAddress(x, service, host.Workstation, o)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, issued)
}

func isLabel(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return false
		}
	}
	return len(text) <= maxLabel
}
