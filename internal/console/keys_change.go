package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// enableKey enables a key again.
func enableKey(v *visit) error {
	if err := v.send(http.MethodPatch, keyRoute(v), map[string]bool{"disabled": false}, nil); err != nil {
		return err
	}
	return v.redirect(keyPath(v), "enabled")
}

// keyPath is the page of the key that the path names.
func keyPath(v *visit) string { return pageOfKey(v.r.PathValue("key")) }

var disableKey = loss{
	method: http.MethodPatch, route: keyRoute, body: map[string]bool{"disabled": true}, after: keyPath, done: "disabled",
	ask: func(v *visit) (confirmation, error) {
		key, use, err := readUsed(v)
		return confirmation{
			Title:  "Disable " + key.Name + "?",
			Text:   "Its next request is refused (401) until it is enabled again, and what is open with it ends at once." + use.Lately(),
			Lost:   use.Open(),
			Stays:  use.Finishes() + " Its limits, and what it has spent, stay.",
			Button: "Disable " + key.Name, Back: key.Path(""),
		}, err
	},
}

var deleteKey = loss{
	method: http.MethodDelete, route: keyRoute, after: pageAt("/keys"), done: "deleted",
	ask: func(v *visit) (confirmation, error) {
		key, use, err := readUsed(v)
		return confirmation{
			Title:  "Delete " + key.Name + "?",
			Text:   "This cannot be undone: its next request is refused (401), for good, and what is open with it ends at once." + use.Lately(),
			Lost:   append(use.Open(), "The key "+key.ShortHash()+" with its secret, its limits and settings: no other key has the same."),
			Stays:  use.Finishes() + " What it has spent (" + usd(key.Usage) + ") and its rows stay in the activity. To stop it only for a while, disable it instead.",
			Button: "Delete " + key.Name, Back: key.Path(""),
		}, err
	},
}

// useOfKey is what uses a key now, as far as the caller may see it. A question about the key says it.
type useOfKey struct {
	Desktops desktopsOfKey
	Limits   limitsOfKey
	Since    time.Time // from when Calls are counted; zero: they are not known
	Calls    seriesPoint
}

// readUsed reads the key that the path names, and what uses it now.
func readUsed(v *visit) (key keyRow, u useOfKey, err error) {
	if key, err = readKey(v); err != nil {
		return key, u, err
	}
	if err = u.Desktops.lacks(u.Desktops.read(v, &key)); err != nil {
		return key, u, err
	}
	if err = u.Limits.lacks(u.Limits.read(v, &key)); err != nil {
		return key, u, err
	}
	if !v.has(keys.ActivityRead) {
		return key, u, nil
	}
	s := (span{Choice: "1h"}).named(v.now)
	sums, err := readSeries(v, &s, "code", 1, url.Values{"key": {key.Hash}})
	if err = new(block).lacks(err); err == nil && sums.By != "" {
		u.Since, u.Calls = sums.From, sums.Total.Total
	}
	return key, u, err
}

// Lately says how many calls came from the key, "" if that is not known.
func (u *useOfKey) Lately() string {
	if u.Since.IsZero() {
		return ""
	}
	calls := "no call"
	if u.Calls.Requests > 0 {
		calls = plural(u.Calls.Requests, "call")
	}
	return " Since " + u.Since.UTC().Format("15:04") + " UTC " + calls + " came from it."
}

// Finishes says what goes on.
func (u *useOfKey) Finishes() string {
	if n := u.Limits.UnderWay(); n > 0 {
		return plural(n, "call") + " under way now: what has begun finishes, and is charged."
	}
	return "Calls under way finish, and are charged."
}

// Open are the things that end with the key.
func (u *useOfKey) Open() (ends []string) {
	switch d := &u.Desktops; {
	case d.Hidden:
	case d.Needs != "":
		ends = append(ends, "Its open desktops and VNC addresses. How many desktops are open, a key with "+d.Needs+" sees.")
	case d.Failed != "":
		ends = append(ends, "Its open desktops and VNC addresses. How many desktops are open cannot be read now: "+d.Failed+".")
	case len(d.Sessions) == 0:
		ends = append(ends, "Its VNC addresses. No desktop is open with it now.")
	default:
		ends = append(ends, plural(int64(len(d.Sessions)), "open desktop")+" ("+strings.Join(d.Places(), ", ")+"), and its VNC addresses.")
	}
	return append(ends, "The sign-ins to the console with it, and the desktops in their pages.")
}

// rotatePage is what the form shows in which a key gets another secret.
type rotatePage struct {
	keyRow

	Use  useOfKey
	Form form
}

// Graces are how long the replaced secret can stay good.
func (*rotatePage) Graces() []choice {
	return []choice{{"0s", "ends at once"}, {"1h", "stays good for an hour"}, {"24h", "stays good for a day"}, {"168h", "stays good for 7 days"}}
}

// askRotate shows the form in which a key gets another secret.
func askRotate(v *visit) error { return showRotate(v, form{}) }

func showRotate(v *visit, f form) error {
	key, use, err := readUsed(v)
	if err != nil {
		return err
	}
	titled(v, "Rotate the secret of "+key.Name)
	p := rotatePage{key, use, f}
	return showForm(v, &p.Form, "key_rotate", &p)
}

// rotateKey gives a key another secret, and shows it. A form that is sent twice, as a reload does, must
// not do so twice: the secret that was shown first would end. Each rotation changes the time of the last
// change, which the form has.
func rotateKey(v *visit) error {
	f, _, err := readVersioned(v, "the key was changed after this form was made, perhaps by this very form: look at the key before you rotate it again")
	if err != nil {
		return err
	}
	if f.Failed != nil {
		return showRotate(v, f)
	}
	var answer struct {
		Data keyRow
		Key  string
	}
	if err := f.refused(v.send(http.MethodPost, keyRoute(v)+"/rotate", map[string]string{"grace": f.Value("grace")}, &answer)); err != nil {
		return err
	}
	if f.Failed != nil {
		return showRotate(v, f)
	}
	titled(v, "The key "+answer.Data.Name+" has another secret")
	return v.show(http.StatusCreated, "key_secret", &secretPage{keyRow: answer.Data, Secret: answer.Key, Rotated: true, Address: ownAddress(v) + "/v1"})
}

// readVersioned reads a form, and the key that it is about. The form fails with a message if the
// key was changed after it was made.
func readVersioned(v *visit, message string) (f form, key keyRow, err error) {
	if f, err = readForm(v); err != nil {
		return f, key, err
	}
	if key, err = readKey(v); err == nil && f.Value("updated") != key.Version() {
		f.Failed = &Failure{Status: http.StatusConflict, Code: "changed", Message: message}
	}
	return f, key, err
}

// Version changes with the key.
func (k *keyRow) Version() string { return k.Updated.UTC().Format(time.RFC3339Nano) }
