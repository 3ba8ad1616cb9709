package desktop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// SessionRules are what one level (gateway, tenant, workstation, key, request) allows a session. Of
// several levels the strictest counts, see Within. The zero value has no rule. As JSON:
//
//	{"view_only":true,"shared":false,"fps":15,"clipboard_in":"off","clipboard_out":"off",
//	 "idle_timeout":1800,"max_duration":28800,"bandwidth":20000000,"max_guests":3,
//	 "automation":"view","record":"required"}
type SessionRules struct {
	ViewOnly       bool          // no keys, pointer or clipboard from the viewer
	NotShared      bool          // no other session may join; guests may
	NoClipboardIn  bool          // the viewer's clipboard stays there
	NoClipboardOut bool          // the workstation's clipboard stays there
	FPS            int           // updates a viewer can ask for in a second
	IdleTimeout    time.Duration // of a session without keys or pointer
	MaxDuration    time.Duration // from the issue of the address to the end of the session
	Bandwidth      int64         // bits a second to the viewer
	MaxGuests      int           // at a time; NoGuests: none
	Automation     Automation    // what agents may do
	Record         Record        // what was on the screen
}

// Record is whether sessions are recorded.
type Record uint8

// The rules, each stricter than the one before.
const (
	RecordOff      Record = iota
	RecordOn              // as long as it can be written
	RecordRequired        // a session that cannot be recorded ends
)

var recordWords = []string{"off", "on", "required"}

func (r Record) String() string { return recordWords[r] }

// ParseRecord reads off, on or required.
func ParseRecord(word string) (Record, error) {
	if i := slices.Index(recordWords, word); i >= 0 {
		return Record(i), nil
	}
	return RecordOff, fmt.Errorf("%q: want off, on or required", word)
}

// NoGuests as MaxGuests lets no guest in.
const NoGuests = -1

// Bounds of the rules. What is below the least could not be used, what is above the most bounds nothing.
const (
	maxFPS       = 1000
	maxTime      = 365 * 24 * time.Hour
	minBandwidth = 64_000
	maxBandwidth = 100_000_000_000
	maxMaxGuests = 100
	maxRules     = 4096 // bytes of JSON, before its members are read
)

// Within returns the stricter of both for each rule.
func (r SessionRules) Within(o SessionRules) SessionRules {
	return SessionRules{
		ViewOnly:       r.ViewOnly || o.ViewOnly,
		NotShared:      r.NotShared || o.NotShared,
		NoClipboardIn:  r.NoClipboardIn || o.NoClipboardIn,
		NoClipboardOut: r.NoClipboardOut || o.NoClipboardOut,
		FPS:            least(r.FPS, o.FPS),
		IdleTimeout:    least(r.IdleTimeout, o.IdleTimeout),
		MaxDuration:    least(r.MaxDuration, o.MaxDuration),
		Bandwidth:      least(r.Bandwidth, o.Bandwidth),
		MaxGuests:      least(r.MaxGuests, o.MaxGuests),
		Automation:     max(r.Automation, o.Automation),
		Record:         max(r.Record, o.Record),
	}
}

// least is the lower of two bounds, of which 0 is none.
func least[T ~int | ~int64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// rule is a member of the object: want says which values it has.
type rule struct {
	want string
	read func(r *SessionRules, value []byte) bool
}

var ruleMembers = map[string]rule{
	"view_only":     {"true or false", boolean(func(r *SessionRules, on bool) { r.ViewOnly = on })},
	"shared":        {"true or false", boolean(func(r *SessionRules, on bool) { r.NotShared = !on })},
	"clipboard_in":  {`"on" or "off"`, onOff(func(r *SessionRules, on bool) { r.NoClipboardIn = !on })},
	"clipboard_out": {`"on" or "off"`, onOff(func(r *SessionRules, on bool) { r.NoClipboardOut = !on })},
	"fps":           {"updates a second, 1 to 1000", number(1, maxFPS, func(r *SessionRules, n int64) { r.FPS = int(n) })},
	"idle_timeout":  {"seconds, at most a year", number(1, int64(maxTime/time.Second), func(r *SessionRules, n int64) { r.IdleTimeout = time.Duration(n) * time.Second })},
	"max_duration":  {"seconds, at most a year", number(1, int64(maxTime/time.Second), func(r *SessionRules, n int64) { r.MaxDuration = time.Duration(n) * time.Second })},
	"bandwidth":     {"bits a second, 64000 to 100000000000", number(minBandwidth, maxBandwidth, func(r *SessionRules, n int64) { r.Bandwidth = n })},
	"max_guests": {"a number, 0 to 100", number(0, maxMaxGuests, func(r *SessionRules, n int64) {
		if r.MaxGuests = int(n); n == 0 {
			r.MaxGuests = NoGuests
		}
	})},
	"automation": {`"off", "view" or "control"`, func(r *SessionRules, value []byte) bool {
		return json.Unmarshal(value, &r.Automation) == nil && r.Automation != 0
	}},
	"record": {`"off", "on" or "required"`, func(r *SessionRules, value []byte) bool {
		var word string
		_ = json.Unmarshal(value, &word) // else it is none of them
		record, err := ParseRecord(word)
		r.Record = record
		return err == nil
	}},
}

// RuleValue says which values a member of the rules has.
func RuleValue(member string) string { return ruleMembers[member].want }

func boolean(set func(r *SessionRules, on bool)) func(*SessionRules, []byte) bool {
	return func(r *SessionRules, value []byte) bool {
		on := bytes.Equal(value, []byte("true"))
		set(r, on)
		return on || bytes.Equal(value, []byte("false"))
	}
}

func onOff(set func(r *SessionRules, on bool)) func(*SessionRules, []byte) bool {
	return func(r *SessionRules, value []byte) bool {
		var word string
		_ = json.Unmarshal(value, &word) // else it is neither
		set(r, word == "on")
		return word == "on" || word == "off"
	}
}

func number(least, most int64, set func(r *SessionRules, n int64)) func(*SessionRules, []byte) bool {
	return func(r *SessionRules, value []byte) bool {
		var n int64
		if json.Unmarshal(value, &n) != nil || n < least || n > most {
			return false
		}
		set(r, n)
		return true
	}
}

// ParseSessionRules reads the object. A member that is null has no rule. One that is unknown, given
// twice or out of its bounds is an *[apierror.Error], whose parameter is "session." and the member.
func ParseSessionRules(text []byte) (r SessionRules, err error) {
	if len(text) > maxRules {
		return r, notRules("session has %d bytes; at most %d are read", len(text), maxRules)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return r, notRules("session: want an object")
	}
	seen := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if err = errors.Join(err, d.Decode(&value)); err != nil {
			return SessionRules{}, notRules("session: want an object")
		}
		param := "session." + clip(name)
		m, known := ruleMembers[name]
		switch {
		case !known:
			return SessionRules{}, apierror.New(apierror.UnsupportedParameter, "unknown field %q of session", clip(name)).WithParam(param)
		case seen[name]:
			return SessionRules{}, notRules("session: %s is given twice", name).WithParam(param)
		case !bytes.Equal(value, []byte("null")) && !m.read(&r, value):
			return SessionRules{}, notRules("%s: want %s", param, m.want).WithParam(param)
		}
		seen[name] = true
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return SessionRules{}, notRules("session: want an object")
	}
	return r, nil
}

func notRules(format string, args ...any) *apierror.Error {
	return apierror.New(apierror.InvalidValue, format, args...).WithParam("session")
}

// UnmarshalJSON is ParseSessionRules; null has no rule.
func (r *SessionRules) UnmarshalJSON(text []byte) (err error) {
	if *r = (SessionRules{}); bytes.Equal(text, []byte("null")) {
		return nil
	}
	*r, err = ParseSessionRules(text)
	return err
}

// wireRules are the members that an issued address has too.
type wireRules struct {
	ClipboardIn  string `json:"clipboard_in,omitempty"`
	ClipboardOut string `json:"clipboard_out,omitempty"`
	IdleTimeout  int64  `json:"idle_timeout,omitempty"`
	MaxDuration  int64  `json:"max_duration,omitempty"`
	Bandwidth    int64  `json:"bandwidth,omitempty"`
	MaxGuests    *int   `json:"max_guests,omitempty"`
	Record       string `json:"record,omitempty"`
}

func (r SessionRules) wire() wireRules {
	w := wireRules{IdleTimeout: int64(r.IdleTimeout / time.Second), MaxDuration: int64(r.MaxDuration / time.Second), Bandwidth: r.Bandwidth}
	if r.NoClipboardIn {
		w.ClipboardIn = "off"
	}
	if r.NoClipboardOut {
		w.ClipboardOut = "off"
	}
	if r.MaxGuests != 0 {
		n := max(r.MaxGuests, 0)
		w.MaxGuests = &n
	}
	if r.Record != RecordOff {
		w.Record = r.Record.String()
	}
	return w
}

// MarshalJSON gives the members that are rules.
func (r SessionRules) MarshalJSON() ([]byte, error) { return json.Marshal(r.JSONShape()) }

// JSONShape is what is written of the rules, and read.
func (r SessionRules) JSONShape() any {
	var shared *bool
	if r.NotShared {
		shared = new(bool)
	}
	return struct {
		ViewOnly bool  `json:"view_only,omitempty"`
		Shared   *bool `json:"shared,omitempty"`
		FPS      int   `json:"fps,omitempty"`
		wireRules
		Automation Automation `json:"automation,omitzero"`
	}{r.ViewOnly, shared, r.FPS, r.wire(), r.Automation}
}
