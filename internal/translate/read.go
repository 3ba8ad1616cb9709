package translate

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// object is an object of the request and the path it stands at, "" for the
// body itself.
type object struct {
	data    []byte
	members []jsonscan.Member
	path    string
}

// open walks an object below the top of the request. Its keys are judged as
// those of the body were: what the provider reads is what was read here.
func open(value []byte, path string) (object, error) {
	o := object{data: value, path: path}
	if len(value) == 0 || value[0] != '{' {
		return o, wrong(path, "an object")
	}
	var err error
	if o.members, err = jsonscan.Strict(value, nil); err != nil {
		return o, apierror.New(apierror.InvalidJSON, "%q is not acceptable: %v", path, err).WithParam(path)
	}
	return o, nil
}

// param is the path of a member.
func (o object) param(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// get returns the value of a member, nil if it is absent or null.
func (o object) get(key string) []byte {
	i, ok := jsonscan.Find(o.data, o.members, key)
	if !ok || o.members[i].Kind == 'n' {
		return nil
	}
	return o.members[i].Value(o.data)
}

// text returns a string, quotes and escapes as written, nil if it is absent or
// null.
func (o object) text(key string) ([]byte, error) {
	value := o.get(key)
	if value != nil && value[0] != '"' {
		return nil, wrong(o.param(key), "a string")
	}
	return value, nil
}

// need is text for a member that must be there.
func (o object) need(key string) ([]byte, error) {
	value, err := o.text(key)
	if err == nil && value == nil {
		err = missing(o.param(key))
	}
	return value, err
}

// word is text, decoded.
func (o object) word(key string) (string, error) {
	value, err := o.text(key)
	if value == nil {
		return "", err
	}
	s, _ := jsonscan.String(value)
	return s, nil
}

// flag returns a boolean, false if it is absent or null.
func (o object) flag(key string) (bool, error) {
	switch value := o.get(key); string(value) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, wrong(o.param(key), "a boolean")
}

// only refuses every member with a value that is not among keys.
func (o object) only(keys ...string) error {
next:
	for _, m := range o.members {
		if m.Kind == 'n' {
			continue
		}
		key := string(m.Key(o.data))
		for _, known := range keys {
			if key == known {
				continue next
			}
		}
		return unsupported(o.param(key))
	}
	return nil
}

// elements walks an array of at most limit elements.
func elements(value []byte, path string, limit int) ([]jsonscan.Span, error) {
	if len(value) == 0 || value[0] != '[' {
		return nil, wrong(path, "an array")
	}
	spans := jsonscan.Elements(value, nil)
	if len(spans) > limit {
		return nil, wrong(path, "an array of at most "+strconv.Itoa(limit)+" elements")
	}
	return spans, nil
}

// at is the path of an element.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func missing(param string) *apierror.Error {
	return apierror.New(apierror.MissingParameter, "missing required parameter: %q", param).WithParam(param)
}

func wrong(param, kind string) *apierror.Error {
	return apierror.New(apierror.InvalidValue, "%q must be %s", param, kind).WithParam(param)
}

// unsupported refuses a field without a counterpart.
func unsupported(param string) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, "%q is not supported: the provider of this model has another API, which has no such field", param).WithParam(param)
}

// unsupportedValue is unsupported for one value of a field.
func unsupportedValue(param, value string) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, "%q cannot be %q: the provider of this model has another API, which has no such value", param, shown(value)).WithParam(param)
}

// maxShown bounds what an error text quotes of a caller's value.
const maxShown = 64

func shown(s string) string {
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "")
	}
	return s
}
