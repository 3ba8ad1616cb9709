package console

import (
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// rowKey is the key of a row: a name of the configuration, or the hash of a key that was made at run
// time.
type rowKey struct {
	Key     string
	Label   string `json:"-"` // the name of a key that was made at run time, if that is known
	KeyPage string `json:"-"` // its page, "" if the caller may not see it
}

// named returns a key as rows show it.
func named(v *visit, key string) rowKey {
	k := rowKey{Key: key, Label: labelOf(v, key)}
	if v.has(keys.KeysManage) && key != "" && (k.Label != "" || !isMadeKey(key)) && !isPerson(key) {
		k.KeyPage = pageOfKey(key)
	}
	return k
}

// pageOfKey is the page of a key, by the hash of one that was made at run time, or by the name of one of
// the configuration.
func pageOfKey(key string) string {
	path := Prefix + "/keys/" + url.PathEscape(key)
	if key == "new" { // the page that issues a key is there
		path += "?source=" + sourceConfiguration
	}
	return path
}

// ShownKey is the key as a page shows it: its name, else the beginning of its hash.
func (k *rowKey) ShownKey() string {
	switch {
	case k.Label != "":
		return k.Label
	case isMadeKey(k.Key):
		return short12(k.Key)
	}
	return k.Key
}

// isMadeKey reports whether a row names a key that was made at run time.
func isMadeKey(key string) bool {
	_, made := keys.ParseSum(key)
	return made
}

// isPerson reports whether a row names somebody by a token of an identity provider: the name of its
// block and 20 hexadecimal digits. There is no page of them.
func isPerson(key string) bool {
	digits := key[strings.LastIndexByte(key, '-')+1:]
	_, err := hex.DecodeString(digits)
	return err == nil && len(digits) == 20 && len(digits) < len(key)
}

// maxLabels is for how many keys a page asks for the name.
const maxLabels = 100

// labelOf returns the name of a key that was made at run time. It is "" for other keys, for a key that is
// gone, and for a caller who may not manage keys: a hash is good enough then.
func labelOf(v *visit, key string) string {
	if !isMadeKey(key) || !v.has(keys.KeysManage) {
		return ""
	}
	name, known := v.labels[key]
	if known || len(v.labels) == maxLabels {
		return name
	}
	var answer struct{ Data keyRow }
	_ = v.get("/api/v1/keys/"+key, nil, &answer) // without an answer there is no name
	if v.labels == nil {
		v.labels = make(map[string]string)
	}
	v.labels[key] = answer.Data.Name
	return answer.Data.Name
}

// keyName is a key as a page shows it.
func keyName(v *visit, key string) string {
	named := named(v, key)
	return named.ShownKey()
}
