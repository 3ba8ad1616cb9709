package console

import (
	"net/http"
	"time"
)

// enableKey enables a key again.
func enableKey(v *visit) error {
	if err := v.send(http.MethodPatch, keyRoute(v), map[string]bool{"disabled": false}, nil); err != nil {
		return err
	}
	return v.redirect(keyPath(v), "enabled")
}

// keyPath is the page of the key that the path names.
func keyPath(v *visit) string { return (&madeKey{Hash: v.r.PathValue("hash")}).Path("") }

var disableKey = loss{
	method: http.MethodPatch, route: keyRoute, body: map[string]bool{"disabled": true}, after: keyPath, done: "disabled",
	ask: func(v *visit) (confirmation, error) {
		key, err := readKey(v)
		return confirmation{
			Title:  "Disable " + key.Name + "?",
			Text:   "Its next request is refused (401) until it is enabled again.",
			Lost:   []string{"Its VNC addresses and open desktops end at once."},
			Stays:  "Calls under way finish. Its limits, and what it has spent, stay.",
			Button: "Disable " + key.Name, Back: key.Path(""),
		}, err
	},
}

var deleteKey = loss{
	method: http.MethodDelete, route: keyRoute, after: pageAt("/keys"), done: "deleted",
	ask: func(v *visit) (confirmation, error) {
		key, err := readKey(v)
		return confirmation{
			Title: "Delete " + key.Name + "?",
			Text:  "Its next request is refused (401), for good.",
			Lost: []string{
				"The key " + key.ShortHash() + " with its secret, its limits and settings: no other key has the same.",
				"Its VNC addresses and open desktops end at once.",
			},
			Stays:  "Calls under way finish. What it has spent (" + usd(key.Usage) + ") and its rows stay in the activity. To stop it only for a while, disable it instead.",
			Button: "Delete " + key.Name, Back: key.Path(""),
		}, err
	},
}

// rotatePage is what the form shows in which a key gets another secret.
type rotatePage struct {
	madeKey
	Form form
}

// Graces are how long the replaced secret can stay good.
func (*rotatePage) Graces() []choice {
	return []choice{{"0s", "ends at once"}, {"1h", "stays good for an hour"}, {"24h", "stays good for a day"}, {"168h", "stays good for 7 days"}}
}

// askRotate shows the form in which a key gets another secret.
func askRotate(v *visit) error { return showRotate(v, form{}) }

func showRotate(v *visit, f form) error {
	key, err := readKey(v)
	if err != nil {
		return err
	}
	titled(v, "Rotate the secret of "+key.Name)
	p := rotatePage{key, f}
	return showForm(v, &p.Form, "key_rotate", &p)
}

// rotateKey gives a key another secret, and shows it. A form that is sent twice, as a reload does, must
// not do so twice: the secret that was shown first would end. Each rotation changes the time of the last
// change, which the form has.
func rotateKey(v *visit) error {
	f, err := readForm(v)
	if err != nil {
		return err
	}
	key, err := readKey(v)
	if err != nil {
		return err
	}
	if f.Value("updated") != key.Version() {
		f.Failed = &Failure{Status: http.StatusConflict, Code: "changed", Message: "the key was changed after this form was made, perhaps by this very form: look at the key before you rotate it again"}
		return showRotate(v, f)
	}
	var answer struct {
		Data madeKey
		Key  string
	}
	if err := f.refused(v.send(http.MethodPost, keyRoute(v)+"/rotate", map[string]string{"grace": f.Value("grace")}, &answer)); err != nil {
		return err
	}
	if f.Failed != nil {
		return showRotate(v, f)
	}
	titled(v, "The key "+answer.Data.Name+" has another secret")
	return v.show(http.StatusCreated, "key_secret", &secretPage{madeKey: answer.Data, Secret: answer.Key, Rotated: true, Address: ownAddress(v) + "/v1"})
}

// Version changes with the key.
func (k *madeKey) Version() string { return k.Updated.UTC().Format(time.RFC3339Nano) }
