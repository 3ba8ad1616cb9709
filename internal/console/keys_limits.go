package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// limitsForm is what the form shows in which the limits of a key are changed.
type limitsForm struct {
	keyRow

	Most mostOfKey
	Form form
}

// limitFields are the limits of a key, as POST and PATCH /api/v1/keys name them.
var limitFields = []string{"limit", "limit_reset", "rates", "budgets", "concurrency", "max_output_tokens"}

// limitsOf fills the form with the limits that a key has.
func limitsOf(k *keyRow) form {
	values := url.Values{
		"limit_reset": {k.Reset}, "rates": {strings.Join(k.Rates, "\n")}, "budgets": {strings.Join(k.Budgets, "\n")},
		"concurrency": {k.Concurrency},
	}
	if k.Limit != nil {
		values.Set("limit", strconv.FormatFloat(*k.Limit, 'f', -1, 64))
	}
	if k.MaxOutput != nil {
		values.Set("max_output_tokens", strconv.FormatInt(*k.MaxOutput, 10))
	}
	return form{Values: values}
}

// askLimits shows the form in which the limits of a key are changed.
func askLimits(v *visit) error {
	key, err := readKey(v)
	if err != nil {
		return err
	}
	return showLimits(v, key, limitsOf(&key))
}

func showLimits(v *visit, key keyRow, f form) error {
	most, err := readMost(v)
	if err != nil {
		return err
	}
	p := limitsForm{keyRow: key, Form: f}
	if most != nil {
		p.Most = *most
	}
	titled(v, "Change the limits of "+key.Name)
	return showForm(v, &p.Form, "key_limits", &p)
}

// changeLimits changes the limits of a key: what is left empty is taken away. The form says which
// version of the key it was made of, so that no change of somebody else is lost.
func changeLimits(v *visit) error {
	f, key, err := readVersioned(v, "the key was changed after this form was made: look at the key before you change its limits")
	if err != nil {
		return err
	}
	if f.Failed != nil {
		return showLimits(v, key, f)
	}
	body := limitsBody(f)
	for _, field := range limitFields {
		if _, given := body[field]; !given {
			body[field] = nil
		}
	}
	if err := f.refused(v.send(http.MethodPatch, keyRoute(v), body, nil)); err != nil {
		return err
	}
	if f.Failed != nil {
		return showLimits(v, key, f)
	}
	return v.redirect(keyPath(v), "limits")
}
