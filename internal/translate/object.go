package translate

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Object is an object of a request, walked once. Its methods treat a member that is null as absent.
// Their errors are [*apierror.Error] with status 400 that name the member by its path.
type Object struct {
	data    []byte
	members []jsonscan.Member
	path    string // "" for the body itself
}

// Body returns the request as it was parsed, without the edits that b has collected.
func Body(b *jsonscan.Body) Object { return Object{data: b.Data(), members: b.Members()} }

// usualMembers is how many members an object of a request usually has at most. A list for so many is made
// at once and not by doubling.
const usualMembers = 4

// Open walks an object below the top of a request. Its keys are checked as strictly as those of the
// body: the provider must read the same members as the gateway.
func Open(value []byte, path string) (Object, error) {
	o, err := open(value, path)
	return *o, err
}

// opened is an object with room for its members.
type opened struct {
	Object
	storage [usualMembers]jsonscan.Member
}

func open(value []byte, path string) (*Object, error) {
	o := &opened{Object: Object{data: value, path: path}}
	if len(value) == 0 || value[0] != '{' {
		return &o.Object, Invalid(path, "an object")
	}
	var err error
	if o.members, err = jsonscan.Strict(value, o.storage[:0]); err != nil {
		err = apierror.New(apierror.InvalidJSON, "%q is not acceptable: %v", path, err).WithParam(path)
	}
	return &o.Object, err
}

// Param returns the path of a member.
func (o *Object) Param(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// Get returns the value of a member, nil if it is absent.
func (o *Object) Get(key string) []byte {
	i, ok := jsonscan.Find(o.data, o.members, key)
	if !ok || o.members[i].Kind == 'n' {
		return nil
	}
	return o.members[i].Value(o.data)
}

// Text returns a string with its quotes and escapes as written, nil if it is absent.
func (o *Object) Text(key string) ([]byte, error) {
	value := o.Get(key)
	if value != nil && value[0] != '"' {
		return nil, Invalid(o.Param(key), "a string")
	}
	return value, nil
}

// RequiredText is Text for a member that must be present.
func (o *Object) RequiredText(key string) ([]byte, error) {
	value, err := o.Text(key)
	if err == nil && value == nil {
		err = Missing(o.Param(key))
	}
	return value, err
}

// DecodedText returns a string without quotes and escapes, "" if it is absent.
func (o *Object) DecodedText(key string) (string, error) {
	value, err := o.Text(key)
	if value == nil {
		return "", err
	}
	s, _ := jsonscan.String(value)
	return s, nil
}

// Type returns the member "type", which must be present.
func (o *Object) Type() (string, error) {
	typ, err := o.DecodedText("type")
	if err == nil && typ == "" {
		err = Missing(o.Param("type"))
	}
	return typ, err
}

// Bool returns a boolean, false if it is absent.
func (o *Object) Bool(key string) (bool, error) {
	switch value := o.Get(key); string(value) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, Invalid(o.Param(key), "a boolean")
}

// Int returns an integer that must be at least 0 or 1, as written and as a number; nil and 0 if it
// is absent.
func (o *Object) Int(key string, least int64) (value []byte, n int64, err error) {
	if value = o.Get(key); value == nil {
		return nil, 0, nil
	}
	if n, ok := jsonscan.Int(value); ok && n >= least {
		return value, n, nil
	}
	if least == 1 {
		return nil, 0, Invalid(o.Param(key), "a positive integer")
	}
	return nil, 0, Invalid(o.Param(key), "an integer of at least "+strconv.FormatInt(least, 10))
}

// Object walks an object in a member. ok is false if it is absent.
func (o *Object) Object(key string) (inner Object, ok bool, err error) {
	object, err := o.object(key)
	return *object, err == nil && object != &absent, err
}

// absent is the object of a member that is absent.
var absent Object

func (o *Object) object(key string) (*Object, error) {
	value := o.Get(key)
	if value == nil {
		return &absent, nil
	}
	return open(value, o.Param(key))
}

// RequiredObject is Object for a member that must be present.
func (o *Object) RequiredObject(key string) (Object, error) {
	inner, ok, err := o.Object(key)
	if err == nil && !ok {
		err = Missing(o.Param(key))
	}
	return inner, err
}

// Each walks an array of at most limit objects in a member, and calls f for each until it fails. An
// absent array is empty.
func (o *Object) Each(key string, limit int, f func(i int, element Object) error) error {
	return o.each(key, limit, func(i int, element *Object) error { return f(i, *element) })
}

func (o *Object) each(key string, limit int, f func(i int, element *Object) error) error {
	value := o.Get(key)
	if value == nil {
		return nil
	}
	path := o.Param(key)
	spans, err := Elements(value, path, limit)
	if err != nil {
		return err
	}
	for i, span := range spans {
		element, err := open(span.Value(value), At(path, i))
		if err != nil {
			return err
		}
		if err := f(i, element); err != nil {
			return err
		}
	}
	return nil
}

// Only refuses the first member that is not among keys.
func (o *Object) Only(keys ...string) error {
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

// Elements walks an array of at most limit elements. It stops at the first beyond.
func Elements(value []byte, path string, limit int) (spans []jsonscan.Span, err error) {
	if len(value) == 0 || value[0] != '[' {
		return nil, Invalid(path, "an array")
	}
	for span := range jsonscan.AllElements(value) {
		if len(spans) == limit {
			return nil, Invalid(path, "an array of at most "+strconv.Itoa(limit)+" elements")
		}
		spans = append(spans, span)
	}
	return spans, nil
}

// At returns the path of an element of an array.
func At(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
