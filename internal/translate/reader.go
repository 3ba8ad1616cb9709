package translate

import (
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Reader reads an object of a request, which is walked once. A member that is null is absent. All
// readers of a request share its first failure, an [*apierror.Error] with status 400 that names a
// member by its path: a translation reads on as if the member were absent, and looks at the failure
// at its end.
type Reader struct {
	*object
	failed *error
}

type object struct {
	data    []byte
	members []jsonscan.Member

	// Where it stands: in a member of another object, or in a list in that member. The path is put
	// together from these only where it is shown.
	within *object // nil for the body itself
	key    string
	index  int // in the list, or noIndex
}

const noIndex = -1

// path returns the path of the object, "" for the body itself.
func (o *object) path() string {
	path := o.key
	if o.within != nil {
		path = o.within.param(o.key)
	}
	if o.index != noIndex {
		path = At(path, o.index)
	}
	return path
}

// param returns the path of a member.
func (o *object) param(key string) string {
	if path := o.path(); path != "" {
		return path + "." + key
	}
	return key
}

// absent is the object of a member that is absent.
var absent = object{index: noIndex}

// usualMembers is how many members an object of a request usually has at most. A list for so many
// is made at once and not by doubling.
const usualMembers = 4

// opened is an object with room for its members.
type opened struct {
	object
	storage [usualMembers]jsonscan.Member
}

// Read returns the reader of a request as it was parsed, without the edits that b has collected.
// The first failure of it, and of what it opens, goes to failed.
func Read(b *jsonscan.Body, failed *error) Reader {
	return Reader{&object{data: b.Data(), members: b.Members(), index: noIndex}, failed}
}

// open opens an object that lies inside the request. Its keys are checked as strictly as those of
// the body: the provider must read the same members as the gateway.
func (r Reader) open(value []byte, key string, index int) (inner Reader, ok bool) {
	o := &opened{object: object{data: value, within: r.object, key: key, index: index}}
	return r.scan(o, jsonscan.StrictInside)
}

// scan finds the members of an object.
func (r Reader) scan(o *opened, strict func([]byte, []jsonscan.Member) ([]jsonscan.Member, error)) (inner Reader, ok bool) {
	inner = Reader{&o.object, r.failed}
	if len(o.data) == 0 || o.data[0] != '{' {
		r.Fail(Invalid(o.path(), "an object"))
		return inner, false
	}
	var err error
	if o.members, err = strict(o.data, o.storage[:0]); err != nil {
		r.Fail(apierror.New(apierror.InvalidJSON, "%q is not acceptable: %v", o.path(), err).WithParam(o.path()))
	}
	return inner, err == nil
}

// Fail refuses the request, unless err is nil or something before was refused.
func (r Reader) Fail(err error) {
	if *r.failed == nil {
		*r.failed = err
	}
}

// Param returns the path of a member.
func (r Reader) Param(key string) string { return r.param(key) }

// Get returns the value of a member, nil if it is absent.
func (r Reader) Get(key string) []byte {
	i, ok := jsonscan.Find(r.data, r.members, key)
	if !ok || r.members[i].Kind == 'n' {
		return nil
	}
	return r.members[i].Value(r.data)
}

// Text returns a string with its quotes and escapes as written, nil if it is absent.
func (r Reader) Text(key string) []byte {
	value := r.Get(key)
	if value != nil && value[0] != '"' {
		r.Fail(Invalid(r.Param(key), "a string"))
		return nil
	}
	return value
}

// RequiredText is Text for a member that must be present. It has quotes even after a failure.
func (r Reader) RequiredText(key string) []byte {
	if value := r.Text(key); value != nil {
		return value
	}
	r.Fail(Missing(r.Param(key)))
	return []byte(`""`)
}

// DecodedText returns a string without quotes and escapes, "" if it is absent.
func (r Reader) DecodedText(key string) string {
	s, _ := jsonscan.String(r.Text(key))
	return s
}

// Bool returns a boolean, false if it is absent.
func (r Reader) Bool(key string) bool {
	value := string(r.Get(key))
	if value != "" && value != "true" && value != "false" {
		r.Fail(Invalid(r.Param(key), "a boolean"))
	}
	return value == "true"
}

// Int returns an integer that must be at least so much, as written and as a number; nil and 0 if it
// is absent.
func (r Reader) Int(key string, least int64) (value []byte, n int64) {
	if value = r.Get(key); value == nil {
		return nil, 0
	}
	if n, ok := jsonscan.Int(value); ok && n >= least {
		return value, n
	}
	kind := "a positive integer"
	if least != 1 {
		kind = "an integer of at least " + strconv.FormatInt(least, 10)
	}
	r.Fail(Invalid(r.Param(key), kind))
	return nil, 0
}

// Object opens an object in a member. It is false if the member is absent. If keys are given, the
// object may have no other members.
func (r Reader) Object(key string, keys ...string) (inner Reader, ok bool) {
	value := r.Get(key)
	if value == nil {
		return Reader{&absent, r.failed}, false
	}
	if inner, ok = r.open(value, key, noIndex); len(keys) > 0 {
		inner.Only(keys...)
	}
	return inner, ok
}

// RequiredObject is Object for a member that must be present.
func (r Reader) RequiredObject(key string, keys ...string) Reader {
	inner, ok := r.Object(key, keys...)
	if !ok {
		r.Fail(Missing(r.Param(key)))
	}
	return inner
}

// Each opens the elements of an array of at most limit objects in a member, and calls f for each
// until the request is refused. An absent array is empty.
func (r Reader) Each(key string, limit int, f func(i int, element Reader)) {
	value := r.Get(key)
	if value == nil {
		return
	}
	if value[0] != '[' {
		r.Fail(notArray(r.Param(key)))
		return
	}
	i := 0
	for span := range jsonscan.Inside(value) {
		if i == limit {
			r.Fail(tooLong(r.Param(key), limit))
			return
		}
		element, _ := r.open(span.Value(value), key, i)
		if *r.failed != nil {
			return
		}
		f(i, element)
		i++
	}
}

// Only refuses the first member that is not among keys.
func (r Reader) Only(keys ...string) {
	for _, m := range r.members {
		key := m.Key(r.data)
		if m.Kind != 'n' && !slices.ContainsFunc(keys, func(k string) bool { return k == string(key) }) {
			r.Fail(Unsupported(r.Param(string(key))))
			return
		}
	}
}

// Failure returns the first failure of the request, nil for none.
func Failure(r Reader) error { return *r.failed }

// OpenInside returns the reader of an object that stands for the one of r, or for a member of it,
// at this path.
func OpenInside(r Reader, value []byte, path string) Reader {
	inner, _ := r.scan(&opened{object: object{data: value, key: path, index: noIndex}}, jsonscan.Strict)
	return inner
}

// Required is Get for a member that must be present.
func Required(r Reader, key string) []byte {
	value := r.Get(key)
	if value == nil {
		r.Fail(Missing(r.Param(key)))
	}
	return value
}

// NonEmptyText is Text, with an empty string as good as none.
func NonEmptyText(r Reader, key string) []byte {
	if value := r.Text(key); string(value) != `""` {
		return value
	}
	return nil
}

// TypeOf returns the member "type", which must be present.
func TypeOf(r Reader) string {
	typ := r.DecodedText("type")
	if typ == "" {
		r.Fail(Missing(r.Param("type")))
	}
	return typ
}

// RefuseType refuses an object of this type.
func RefuseType(r Reader, typ string) { r.Fail(UnsupportedValue(r.Param("type"), typ)) }

// Elements walks an array of at most limit elements. It stops at the first beyond.
func Elements(value []byte, path string, limit int) (spans []jsonscan.Span, err error) {
	if len(value) == 0 || value[0] != '[' {
		return nil, notArray(path)
	}
	for span := range jsonscan.AllElements(value) {
		if len(spans) == limit {
			return nil, tooLong(path, limit)
		}
		spans = append(spans, span)
	}
	return spans, nil
}

func notArray(path string) error { return Invalid(path, "an array") }

func tooLong(path string, limit int) error {
	return Invalid(path, "an array of at most "+strconv.Itoa(limit)+" elements")
}

// At returns the path of an element of an array.
func At(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
