package desktop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Registration is a workstation as a caller describes it. The members with a JSON name are stored.
type Registration struct {
	Address    string `json:"address,omitempty"`    // host:port
	Credential string `json:"credential,omitempty"` // the name of a declared credential; "" = none

	// Machine says which machine it is: the id of a VM, the UID of a pod, the number of a lease.
	// Another one under the same name is another machine, which no viewer of the old one may see.
	Machine string `json:"generation,omitempty"`
	// Source is the control plane that registers it: no other changes it before it is released. ""
	// is somebody who registers by hand; a source may take over what was registered so.
	Source string `json:"source,omitempty"`
	// Labels are for lists.
	Labels map[string]string `json:"labels,omitempty"`
	// OnExpiry says what its end does besides stopping new addresses: OnExpiryEnd or "", nothing.
	OnExpiry string `json:"on_expiry,omitempty"`
	// Session are rules of all sessions there, besides those of other levels.
	Session SessionRules `json:"session,omitzero"`

	ExpiresIn time.Duration `json:"-"` // how long addresses are issued for it; 0 = without end
	New       bool          `json:"-"` // it is refused if the workstation is there
	By        string        `json:"-"` // the key that registers, "" if it is not known
}

// OnExpiryEnd ends open sessions, and the addresses that were issued, with the registration.
const OnExpiryEnd = "end"

const (
	maxLabels    = 16                   // of a workstation
	maxExpiresIn = 366 * 24 * time.Hour // beyond it, leave it out
)

var (
	validMachine    = regexp.MustCompile(`^[A-Za-z0-9._:/-]{1,128}$`)
	validSource     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	validLabel      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$`)
	validLabelValue = regexp.MustCompile(`^[ -~]{0,63}$`) // what a URL and a table can show
)

// Set sets a member from the JSON of a caller. It reports whether there is such a member.
func (r *Registration) Set(name string, value []byte) (known bool, err error) {
	switch name {
	case "address":
		return true, member(name, value, &r.Address, "a string")
	case "credential":
		return true, member(name, value, &r.Credential, "a string")
	case "generation":
		return true, member(name, value, &r.Machine, "a string")
	case "source":
		return true, member(name, value, &r.Source, "a string")
	case "labels":
		return true, member(name, value, &r.Labels, "an object of strings")
	case "session":
		if !jsonscan.IsNull(value) {
			r.Session, err = ParseSessionRules(value)
		}
		return true, err
	case "on_expiry":
		return true, member(name, value, &r.OnExpiry, "a string")
	case "expires_in":
		var seconds int64
		if err := member(name, value, &seconds, "seconds"); err != nil {
			return true, err
		}
		if most := int64(maxExpiresIn / time.Second); string(value) != "null" && (seconds < 1 || seconds > most) {
			return true, invalid(name, fmt.Errorf("want seconds, 1 to %d", most))
		}
		r.ExpiresIn = time.Duration(seconds) * time.Second
		return true, nil
	}
	return false, nil
}

// parse reads an object, each member of which set takes, also after one that it refuses.
func (r *Registration) parse(object []byte, set func(name string, value []byte) (known bool, err error)) error {
	members, err := jsonscan.Strict(object, nil)
	if err != nil {
		return apierror.New(apierror.InvalidJSON, "the registration is not acceptable JSON: %v", err)
	}
	var first error
	for _, m := range members {
		name := string(m.Key(object))
		known, err := set(name, m.Value(object))
		if err == nil && !known {
			err = apierror.New(apierror.UnsupportedParameter, "unknown field %q", name).WithParam(name)
		}
		first = cmp.Or(first, err)
	}
	return first
}

// member reads one value. Null leaves dst as it is; a value of another type is refused.
func member[T any](name string, value []byte, dst *T, want string) error {
	if jsonscan.IsNull(value) || json.Unmarshal(value, dst) == nil {
		return nil
	}
	return invalid(name, errors.New("want "+want))
}

func invalid(param string, err error) *apierror.Error {
	return apierror.New(apierror.InvalidValue, "%s: %v", param, err).WithParam(param)
}

// empty reports whether it describes nothing, which takes back the release of a declared workstation.
func (r *Registration) empty() bool {
	return r.Address == "" && r.Credential == "" && r.Source == "" && r.ExpiresIn == 0 && !r.extended()
}

// extended reports whether it has members that records of version 1 do not have.
func (r *Registration) extended() bool {
	return r.Machine != "" || r.Source != "" || len(r.Labels) > 0 || r.OnExpiry != "" || r.Session != (SessionRules{})
}

// same reports whether nothing of it has to be stored for another. One that expires has another end
// with each registration.
func (r *Registration) same(other *Registration) bool {
	return r.Address == other.Address && r.Credential == other.Credential && r.Machine == other.Machine &&
		r.Source == other.Source && r.OnExpiry == other.OnExpiry && r.Session == other.Session && maps.Equal(r.Labels, other.Labels)
}

// checkForm checks what can be checked without a configuration: param is the member at fault.
func (r *Registration) checkForm() (param string, err error) {
	switch {
	case r.Credential != "" && !validName.MatchString(r.Credential):
		return "credential", errors.New("it is not the name of a credential")
	case r.Machine != "" && !validMachine.MatchString(r.Machine):
		return "generation", errors.New("want 1 to 128 letters, digits and . _ : / -")
	case r.Source != "" && !validSource.MatchString(r.Source):
		return "source", errors.New("want 1 to 64 letters, digits and . _ -, beginning with a letter or digit")
	case r.Source == SourceDeclared || r.Source == SourceRegistered:
		return "source", fmt.Errorf("%q has a meaning of its own in lists; choose another name", r.Source)
	case r.OnExpiry != "" && r.OnExpiry != OnExpiryEnd:
		return "on_expiry", fmt.Errorf("want %q, or leave it out", OnExpiryEnd)
	case len(r.Labels) > maxLabels:
		return "labels", fmt.Errorf("a workstation has at most %d", maxLabels)
	}
	for name, value := range r.Labels {
		if !validLabel.MatchString(name) || !validLabelValue.MatchString(value) {
			return "labels", errors.New("a name is 1 to 63 letters, digits and . _ / -, beginning with a letter or digit, " +
				"and a value at most 63 printable characters of ASCII")
		}
	}
	return "", nil
}

// check refuses what a caller may not register here.
func (c *configuration) check(id ID, r *Registration) error {
	if err := id.check(); err != nil {
		return apierror.New(apierror.InvalidValue, "%v", err).WithParam("workstation_id")
	}
	if len(c.policy.Networks) == 0 {
		return apierror.New(apierror.UnsupportedParameter,
			"workstations cannot be registered at run time: the option register_networks is not set").WithParam("address")
	}
	if r.Address == "" {
		return apierror.New(apierror.MissingParameter, "address is missing: host:port of the VNC server").WithParam("address")
	}
	addr, port, err := parseAddress(r.Address)
	if err != nil {
		return invalid("address", err)
	}
	if addr.IsValid() && !allowed(c.policy.Networks, netip.AddrPortFrom(addr, port), nil) {
		return apierror.New(apierror.InvalidValue,
			"address %q is not in a network that the option register_networks allows", r.Address).WithParam("address")
	}
	if !c.policy.Ports.has(port) {
		return apierror.New(apierror.InvalidValue, "port %d is not one that the option register_ports allows", port).WithParam("address")
	}
	if param, err := r.checkForm(); err != nil && param != "credential" {
		return invalid(param, err)
	}
	if r.OnExpiry != "" && r.ExpiresIn == 0 {
		return apierror.New(apierror.MissingParameter, "expires_in is missing: on_expiry is what happens then").WithParam("expires_in")
	}
	login, ok := c.policy.Credentials[r.Credential]
	if r.Credential != "" && (!ok || !login.allows(id.Tenant)) {
		return apierror.New(apierror.InvalidValue, "there is no credential %q", clip(r.Credential)).WithParam("credential")
	}
	if login.Root != "" && r.Machine == "" {
		return apierror.New(apierror.MissingParameter, "generation is missing: the login of credential %q is derived from it", r.Credential).WithParam("generation")
	}
	return c.policy.mayRecord(r.Session)
}
