package core

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// VNC configures workstations and the rules of their sessions. The listener itself has the layer-4
// handler vnc.
type VNC struct {
	VNCSettings
	features features
}

// VNCSettings are the members of vnc that the core has. Features add theirs, see [Feature].
type VNCSettings struct {
	// Domain is the base of the VNC addresses, "<token>.<domain>:<port>". A wildcard DNS record
	// must lead to the listener, and a wildcard certificate is managed for it. TigerVNC from 1.16
	// on cannot connect below a domain with a hyphen. Required.
	Domain string `json:"domain"`

	// Port is the port in the addresses. Default: 5900.
	Port int `json:"port,omitempty"`

	// Workstations are those that are declared here.
	Workstations []Workstation `json:"workstations,omitempty"`

	// Credentials are logins that a workstation registered at run time can name: the registration
	// itself carries no secret.
	Credentials []Credential `json:"credentials,omitempty"`

	// RegisterNetworks are the networks (CIDR) in which workstations can be registered at run time.
	// Loopback, link-local and other special addresses must be named by a /32 or /128. Default:
	// none, so registration is off.
	RegisterNetworks []string `json:"register_networks,omitempty"`

	// RegisterPorts are the ports at which workstations can be registered at run time: numbers, or
	// ranges such as "5900-5999". Default: all.
	RegisterPorts []string `json:"register_ports,omitempty"`

	// MaxRegistered bounds the workstations that a tenant has registered at run time. Default:
	// 1000.
	MaxRegistered int `json:"max_registered,omitempty"`

	// ConnectWithin is how long an address waits for its first use. Default: 5m.
	ConnectWithin caddy.Duration `json:"connect_within,omitempty"`

	// ReconnectWithin is how long a used address stays valid after its last session has ended.
	// Default: 2m.
	ReconnectWithin caddy.Duration `json:"reconnect_within,omitempty"`

	// MaxDuration ends sessions, and addresses for good, this long after the address was issued.
	// Default: 12h.
	MaxDuration caddy.Duration `json:"max_duration,omitempty"`

	// IdleTimeout ends a session without a key or pointer event for this long. Default: never.
	IdleTimeout caddy.Duration `json:"idle_timeout,omitempty"`

	// Drain is how long open sessions go on when the process is asked to stop. Meanwhile nothing
	// else is served, and another process cannot have the data directory. A browser moves to
	// another gateway of the cluster. Default: they end at once.
	Drain caddy.Duration `json:"drain,omitempty"`

	// OnConflict is what happens when a viewer connects to a workstation that already has one:
	// "refuse" it, "replace" the other, or "share" the desktop. Default: refuse.
	OnConflict string `json:"on_conflict,omitempty"`

	// ReturnAfter is how long a person who took the input of a workstation from an agent holds it
	// without a key or pointer event. Default: 10m.
	ReturnAfter caddy.Duration `json:"return_after,omitempty"`

	// ScreenshotsDuringHold lets agents see the desktop while a person holds the input. Default:
	// false.
	ScreenshotsDuringHold bool `json:"screenshots_during_hold,omitempty"`

	// MaxTokens bounds the live addresses of a workstation. Default: 16.
	MaxTokens int `json:"max_tokens,omitempty"`

	// MaxSessions bounds the open sessions of the gateway. Default: 1000.
	MaxSessions int `json:"max_sessions,omitempty"`

	// PinClient binds an address to the network address of the first viewer that used it. Default:
	// false.
	PinClient bool `json:"pin_client,omitempty"`

	// VNCAuth admits viewers that know neither TLS nor host names, by the first 8 characters of the
	// token as VNC password. Their sessions are not encrypted. Default: false.
	VNCAuth bool `json:"vncauth,omitempty"`

	// ViewOnly drops the keys, pointer events and clipboard of viewers unless the address was
	// issued otherwise. Default: false.
	ViewOnly bool `json:"view_only,omitempty"`

	// FixedSize keeps viewers from changing the desktop's size. Default: false.
	FixedSize bool `json:"fixed_size,omitempty"`

	// FPS bounds how often a viewer can ask for an update, in updates a second; a negative number
	// leaves it to the viewer. Default: 30.
	FPS int `json:"fps,omitempty"`

	// ClipboardIn is whether the viewer's clipboard reaches the workstation. Default: true.
	ClipboardIn *bool `json:"clipboard_in,omitempty"`

	// Automation is what agents may do at desktops through the API: "off", "view" or "control". The
	// session rules of other levels can only be stricter. Default: off.
	Automation desktop.Automation `json:"automation,omitzero"`

	// Session are the rules of all sessions. Those of the session's tenant, workstation, key and
	// request can only be stricter. Default: none but those of the options above.
	Session desktop.SessionRules `json:"session,omitzero"`
}

// UnmarshalJSON reads the members of the core and of the features.
func (v *VNC) UnmarshalJSON(text []byte) error {
	v.features = newFeatures(InVNC)
	return v.features.decode(InVNC, text, &v.VNCSettings)
}

// MarshalJSON is the reverse of UnmarshalJSON.
func (v *VNC) MarshalJSON() ([]byte, error) { return v.features.encode(&v.VNCSettings) }

// JSONShape returns the core's part of the members.
func (VNC) JSONShape() any { return VNCSettings{} }

// Workstation is a desktop that the configuration declares.
type Workstation struct {
	// Name identifies it within its tenant: letters, digits and . _ -. Required.
	Name string `json:"name"`

	// Tenant owns it. Default: "default".
	Tenant string `json:"tenant,omitempty"`

	// Source is the kind of desktop: "static" (a VNC server at Address) or "test_card" (built in,
	// for trying out). Default: static.
	Source string `json:"source,omitempty"`

	// Address of the VNC server, host:port. Required for static.
	Address string `json:"address,omitempty"`

	// Session are the rules of its sessions. Default: those of other levels only.
	Session desktop.SessionRules `json:"session,omitzero"`

	Login
}

// Login is how the gateway logs in to a VNC server. It is sent to that server only.
type Login struct {
	// User for VeNCrypt X509Plain. Default: none.
	User string `json:"user,omitempty"`

	// Password is {env.NAME} or {file./path}, for VNC authentication (which uses its first 8
	// characters), X509Vnc or X509Plain. Default: none.
	Password string `json:"password,omitempty" placeholders:"yes"`

	// TLS requires VeNCrypt with a certificate from the VNC server. Default: the connection is not
	// encrypted.
	TLS *ServerTLS `json:"tls,omitempty"`
}

// ServerTLS is how a VNC server's certificate is checked.
type ServerTLS struct {
	// TrustPoolRaw is the CA pool that must have issued it. Default: the system's.
	TrustPoolRaw json.RawMessage `json:"trust_pool,omitempty" caddy:"namespace=tls.ca_pool.source inline_key=provider"`

	// PinnedKey is "sha256:<64 hex digits>" of its public key (the SubjectPublicKeyInfo); it
	// replaces the check by a CA. Default: none.
	PinnedKey string `json:"pinned_key,omitempty"`

	// ServerName is the name it must be valid for. Default: the host of the address.
	ServerName string `json:"server_name,omitempty"`
}

// Credential is a login by name.
type Credential struct {
	// Name is how a registration refers to it. Required.
	Name string `json:"name"`

	// Tenants are the tenants that can use it. Default: all.
	Tenants []string `json:"tenants,omitempty"`

	// Derive is {env.NAME} or {file./path}: a secret of at least 16 characters, from which the
	// password of each workstation is derived instead of Password, by its tenant, name and
	// generation. Default: none.
	Derive string `json:"derive,omitempty" placeholders:"yes"`

	Login
}
