package desktop

import (
	"encoding/json"
	"time"
)

// The properties of a session, unless a VNC server was started with others. The rate is the
// policy's. A viewer chooses its encoding itself.
const (
	sessionResolution = "1280x720"
	sessionDepth      = 24
	sessionEncoding   = "tight"
)

// MarshalJSON gives an issued address as its caller gets it. Only here is the token written.
func (i Issued) MarshalJSON() ([]byte, error) { return json.Marshal(i.JSONShape()) }

// JSONShape is what is written of it.
func (i Issued) JSONShape() any {
	type session struct {
		Resolution string `json:"resolution"`
		ColorDepth int    `json:"color_depth"`
		FrameRate  int    `json:"frame_rate,omitempty"`
		Encoding   string `json:"encoding"`
		JPEG       bool   `json:"jpeg"`
		ViewOnly   bool   `json:"view_only"`
		Shared     bool   `json:"shared"`
		Once       bool   `json:"once,omitempty"`
		wireRules
	}
	guest := ""
	if i.Guest.Host != "" {
		guest = i.TokenID
	}
	return struct {
		ID        string    `json:"workstation_id"`
		GuestID   string    `json:"guest_id,omitempty"`
		Host      string    `json:"session_id,omitempty"` // whose guest it is for
		URL       string    `json:"vnc_url"`
		ExpiresAt time.Time `json:"expires_at"`
		Session   session   `json:"session"`
	}{i.Workstation, guest, i.Guest.Host, i.URL, wireTime(i.ExpiresAt), session{
		sessionResolution, sessionDepth, i.Rules.FPS, sessionEncoding, true, i.Rules.ViewOnly, i.Shared, i.Once, i.Rules.wire(),
	}}
}

// MarshalJSON gives a workstation as lists show it. A time that is not set and
// an address that is not to be seen are left out.
func (v View) MarshalJSON() ([]byte, error) { return json.Marshal(v.JSONShape()) }

// JSONShape is what is written of it.
func (v View) JSONShape() any {
	return struct {
		ID         string    `json:"workstation_id"`
		Tenant     string    `json:"tenant"`
		Source     string    `json:"source"`
		State      string    `json:"state"`
		Sessions   int       `json:"sessions"`
		Tokens     int       `json:"tokens"`
		Address    string    `json:"address,omitempty"`
		Registered time.Time `json:"registered_at,omitzero"`
		Released   time.Time `json:"released_at,omitzero"`

		Machine    string            `json:"generation,omitempty"`
		Labels     map[string]string `json:"labels,omitempty"`
		Expires    time.Time         `json:"expires_at,omitzero"`
		Automation Automation        `json:"automation,omitzero"`
		Holder     string            `json:"control,omitempty"`
		Requests   int               `json:"help_requested,omitempty"`
	}{
		v.Name, v.Tenant, v.Source, v.State, v.Sessions, v.Tokens, v.Address, wireTime(v.RegisteredAt), wireTime(v.ReleasedAt),
		v.Machine, v.Labels, wireTime(v.ExpiresAt), v.Automation, v.Holder, v.Requests,
	}
}

// sessionOpen is the state of every session in a list: one that has ended is in the activity.
const sessionOpen = "open"

// MarshalJSON gives a session as lists show it.
func (v SessionView) MarshalJSON() ([]byte, error) { return json.Marshal(v.JSONShape()) }

// JSONShape is what is written of it.
func (v SessionView) JSONShape() any {
	return struct {
		ID       string       `json:"session_id"`
		Tenant   string       `json:"tenant"`
		Name     string       `json:"workstation_id"`
		State    string       `json:"state"`
		Key      string       `json:"key"`
		User     string       `json:"user,omitempty"`
		Token    string       `json:"token"`
		Viewer   string       `json:"viewer"`
		Security string       `json:"security"`
		ViewOnly bool         `json:"view_only"`
		Shared   bool         `json:"shared"`
		Started  time.Time    `json:"started_at"`
		Until    time.Time    `json:"until"`
		Up       int64        `json:"bytes_up"`
		Down     int64        `json:"bytes_down"`
		Node     string       `json:"node,omitempty"`
		Rules    SessionRules `json:"rules,omitzero"`
		Role     string       `json:"role,omitempty"`
		Joined   string       `json:"joined,omitempty"`
		Label    string       `json:"label,omitempty"`
		Guests   int          `json:"guests,omitempty"`
		Holds    bool         `json:"holds_input,omitempty"`
	}{v.ID, v.Tenant, v.Workstation, sessionOpen, v.Key, v.User, v.TokenID, v.Viewer.String(), v.Security, v.ViewOnly, v.Shared, wireTime(v.Started), wireTime(v.Until), v.Up, v.Down, v.Node, v.Rules, v.Role, v.Guest.Host, v.Guest.Label, v.Guests, v.Holds}
}

// wireTime is a time as answers give it: RFC 3339, UTC, whole seconds.
func wireTime(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}
