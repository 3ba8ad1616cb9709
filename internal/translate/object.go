package translate

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Object is an object of a request, walked once. Its methods name a member by its path in their
// errors, which are [*apierror.Error] with status 400.
type Object struct {
	data    []byte
	members []jsonscan.Member
	path    string // "" for the body itself
}

// Body returns the request itself as it was parsed, without the edits that b has collected.
func Body(b *jsonscan.Body) Object { return Object{data: b.Data(), members: b.Members()} }

// Open walks an object below the top of a request. Its keys are checked as strictly as those of
// the body: the provider must read the same members as the gateway.
func Open(value []byte, path string) (Object, error) {
	o := Object{data: value, path: path}
	if len(value) == 0 || value[0] != '{' {
		return o, Invalid(path, "an object")
	}
	var err error
	if o.members, err = jsonscan.Strict(value, nil); err != nil {
		return o, apierror.New(apierror.InvalidJSON, "%q is not acceptable: %v", path, err).WithParam(path)
	}
	return o, nil
}

// Data returns the object as written.
func (o Object) Data() []byte { return o.data }

// Members returns the members of the object.
func (o Object) Members() []jsonscan.Member { return o.members }

// Param is the path of a member.
func (o Object) Param(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// Get returns the value of a member, nil if it is absent or null.
func (o Object) Get(key string) []byte {
	i, ok := jsonscan.Find(o.data, o.members, key)
	if !ok || o.members[i].Kind == 'n' {
		return nil
	}
	return o.members[i].Value(o.data)
}

// Text returns a string with its quotes and escapes as written, nil if it is absent or null.
func (o Object) Text(key string) ([]byte, error) {
	value := o.Get(key)
	if value != nil && value[0] != '"' {
		return nil, Invalid(o.Param(key), "a string")
	}
	return value, nil
}

// RequiredText is Text for a member that must be present.
func (o Object) RequiredText(key string) ([]byte, error) {
	value, err := o.Text(key)
	if err == nil && value == nil {
		err = Missing(o.Param(key))
	}
	return value, err
}

// DecodedText returns a string without quotes and escapes, "" if it is absent or null.
func (o Object) DecodedText(key string) (string, error) {
	value, err := o.Text(key)
	if value == nil {
		return "", err
	}
	s, _ := jsonscan.String(value)
	return s, nil
}

// Bool returns a boolean, false if it is absent or null.
func (o Object) Bool(key string) (bool, error) {
	switch value := o.Get(key); string(value) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, Invalid(o.Param(key), "a boolean")
}

// Only refuses the first member that has a value and is not among keys.
func (o Object) Only(keys ...string) error {
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
		return Unsupported(o.Param(key))
	}
	return nil
}

// Elements walks an array of at most limit elements.
func Elements(value []byte, path string, limit int) ([]jsonscan.Span, error) {
	if len(value) == 0 || value[0] != '[' {
		return nil, Invalid(path, "an array")
	}
	spans := jsonscan.Elements(value, nil)
	if len(spans) > limit {
		return nil, Invalid(path, "an array of at most "+strconv.Itoa(limit)+" elements")
	}
	return spans, nil
}

// At is the path of an element.
func At(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
