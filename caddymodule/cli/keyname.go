package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// maxAlike is how many keys an error lists.
const maxAlike = 5

// findKey returns the key that an operator names, as rows and sessions have it: the name of a key of the
// Caddyfile, or the hash of a key that was made at run time, of which the beginning of its name or hash is
// enough. A name that no key has stays as it is, because rows are kept longer than keys; a note says so.
// The error is about a beginning that several keys have.
func findKey(o *operator, text string) (string, error) {
	if text == "" || isConfigured(o, text) {
		return text, nil
	}
	found := madeKeys(o, text)
	switch len(found) {
	case 0:
		fmt.Fprintf(o.notes, "No key is called %s. Rows of a key that is gone are found by its whole name, or its whole hash.\n", terminal.Printable(text))
		return text, nil
	case 1:
		return found[0].Hash, nil
	}
	var alike []string
	for _, key := range found[:min(len(found), maxAlike)] {
		alike = append(alike, key.Hash[:terminal.ShortHash]+" ("+terminal.Printable(key.Name)+")")
	}
	return "", fmt.Errorf("%s are called %q or begin so: give the hash of one, such as %s", terminal.Plural(len(found), "key"), text, strings.Join(alike, ", "))
}

// isConfigured reports whether the configuration has a key of this name.
func isConfigured(o *operator, name string) bool {
	var answer struct{ Data []report.ConfiguredKey }
	err := o.call(http.MethodGet, keysPath+"?source=configuration", nil, &answer)
	return err == nil && slices.ContainsFunc(answer.Data, func(k report.ConfiguredKey) bool { return k.Name == name })
}

// madeKeys returns the keys made at run time that have this name, or else those whose name or hash begins
// with it, disabled ones too. Without any, and where no keys are made at run time, there are none.
func madeKeys(o *operator, text string) []report.ShownKey {
	var answer struct{ Data []report.ShownKey }
	q := url.Values{"search": {text}, "include_disabled": {"true"}}
	if o.call(http.MethodGet, keysPath+"?"+q.Encode(), nil, &answer) != nil {
		return nil
	}
	lower := strings.ToLower(text)
	begins := slices.DeleteFunc(answer.Data, func(k report.ShownKey) bool {
		return !strings.HasPrefix(strings.ToLower(k.Name), lower) && !strings.HasPrefix(k.Hash, lower)
	})
	whole := slices.DeleteFunc(slices.Clone(begins), func(k report.ShownKey) bool { return !strings.EqualFold(k.Name, text) })
	if len(whole) > 0 {
		return whole
	}
	return begins
}
