package handlers

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// serveVNCURL issues a VNC address for a workstation of the key's tenant.
func serveVNCURL(x *Request) error {
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	var o desktop.Options
	var takeOver *bool
	err = x.ReadOptions(func(name string, value []byte) (bool, error) {
		switch name {
		case "view_only":
			return Option(name, value, &o.ViewOnly, "true or false")
		case "shared":
			return Option(name, value, &o.Shared, "true or false")
		case "once":
			return Option(name, value, &o.Once, "true or false")
		case "take_over":
			return Option(name, value, &takeOver, "true or false")
		case "session":
			return sessionRules(value, &o.Rules)
		case "expires_in":
			return expiresIn(name, value, &o.ExpiresIn)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	o.Claim = claim(takeOver, x.Req.Caller.Has(keys.WorkstationsManage))
	issued, err := issueAddress(x, service, x.Name, o)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, issued)
}

// issueAddress issues an address to the caller's key.
func issueAddress(x *Request, service *desktop.Service, workstation string, o desktop.Options) (desktop.Issued, error) {
	o.Client, _ = netip.ParseAddr(caddykit.Client(x.HTTP)) // invalid: it is not known
	issued, err := service.Issue(Issuer(x), workstation, o)
	if err != nil {
		return issued, err
	}
	return issued, x.desktops().StillMayConnect(&x.Req.Caller)
}

// expiresIn reads how long an address waits for its first use.
func expiresIn(name string, value []byte, dst *time.Duration) (bool, error) {
	var seconds *int64
	known, err := Option(name, value, &seconds, "seconds")
	if err != nil || seconds == nil {
		return known, err
	}
	if *seconds < 1 || *seconds > maxExpiresIn {
		return known, apierror.New(apierror.InvalidValue, "expires_in: want seconds, 1 to %d", maxExpiresIn).WithParam(name)
	}
	*dst = time.Duration(*seconds) * time.Second
	return known, nil
}

// claim returns what a session does where the workstation is in use. A key that may not end the
// sessions of others takes over its own only.
func claim(takeOver *bool, manages bool) desktop.Claim {
	switch {
	case takeOver == nil:
		return desktop.ByRule
	case !*takeOver:
		return desktop.Yield
	case manages:
		return desktop.TakeAny
	}
	return desktop.TakeOwn
}

// maxExpiresIn bounds expires_in, in seconds (30 days). The configured max_duration may be shorter.
const maxExpiresIn = 30 * 24 * 3600
