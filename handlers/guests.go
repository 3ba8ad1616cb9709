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
func inviteGuest(x *apiRequest) error {
	service, sees, err := visibleSessions(x, x.req.Caller.Tenant, keys.WorkstationsObserve)
	if err != nil {
		return err
	}
	viewOnly := true
	var o desktop.Options
	err = x.readOptions(func(name string, value []byte) (bool, error) {
		switch name {
		case "view_only":
			return option(name, value, &viewOnly, "true or false")
		case "expires_in":
			return expiresIn(name, value, &o.ExpiresIn)
		case "session":
			return sessionRules(value, &o.Rules)
		case "label":
			known, err := option(name, value, &o.Guest.Label, "a string")
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
	open := service.OpenSessions(func(s desktop.SessionView) bool { return s.ID == x.name && sees(s) })
	if len(open) == 0 {
		return apierror.New(apierror.NotFound, "there is no open session %q", x.name[:min(len(x.name), maxParamName)])
	}
	host := open[0]
	x.req.SetWorkstation(host.Workstation)
	x.req.Trace.SetSession(host.ID)
	if !viewOnly && host.Key != x.req.Caller.Name {
		return apierror.New(apierror.InvalidValue, "view_only: only the session's own key invites guests who may type").WithParam("view_only")
	}
	o.ViewOnly, o.Guest.Host = &viewOnly, host.ID
	issued, err := issueAddress(x, service, host.Workstation, o)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, issued)
}

func isLabel(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return false
		}
	}
	return len(text) <= maxLabel
}
