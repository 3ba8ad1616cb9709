package translate

// Reader reads an object of a request as [Object] does. All readers of a request share its first
// failure: a translation reads on as if the member were absent, and looks at the failure at its end.
type Reader struct {
	Raw    *Object
	failed *error
}

// Read returns the reader of an object. The first failure of it, and of what it opens, goes to failed.
func Read(o Object, failed *error) Reader { return Reader{&o, failed} }

// Fail refuses the request, unless err is nil or something before was refused.
func (r Reader) Fail(err error) {
	if *r.failed == nil {
		*r.failed = err
	}
}

// Get returns the value of a member, nil if it is absent.
func (r Reader) Get(key string) []byte { return r.Raw.Get(key) }

// Text returns a string with its quotes and escapes as written, nil if it is absent.
func (r Reader) Text(key string) []byte {
	value, err := r.Raw.Text(key)
	r.Fail(err)
	return value
}

// RequiredText is Text for a member that must be present. It has quotes even after a failure.
func (r Reader) RequiredText(key string) []byte {
	value, err := r.Raw.RequiredText(key)
	if r.Fail(err); err != nil {
		return []byte(`""`)
	}
	return value
}

// NonEmptyText is Text, with an empty string as good as none.
func (r Reader) NonEmptyText(key string) []byte {
	if value := r.Text(key); string(value) != `""` {
		return value
	}
	return nil
}

// DecodedText returns a string without quotes and escapes, "" if it is absent.
func (r Reader) DecodedText(key string) string {
	value, err := r.Raw.DecodedText(key)
	r.Fail(err)
	return value
}

// Type returns the member "type", which must be present.
func (r Reader) Type() string {
	typ, err := r.Raw.Type()
	r.Fail(err)
	return typ
}

// Bool returns a boolean, false if it is absent.
func (r Reader) Bool(key string) bool {
	value, err := r.Raw.Bool(key)
	r.Fail(err)
	return value
}

// Int returns an integer that must be at least so much, as written and as a number; nil and 0 if it
// is absent.
func (r Reader) Int(key string, least int64) (value []byte, n int64) {
	value, n, err := r.Raw.Int(key, least)
	r.Fail(err)
	return value, n
}

// Object opens an object in a member. It is false if the member is absent. If keys are given, the
// object may have no other members.
func (r Reader) Object(key string, keys ...string) (Reader, bool) {
	o, err := r.Raw.object(key)
	r.Fail(err)
	inner := Reader{o, r.failed}
	if len(keys) > 0 {
		inner.Only(keys...)
	}
	return inner, err == nil && o != &absent
}

// RequiredObject is Object for a member that must be present.
func (r Reader) RequiredObject(key string, keys ...string) Reader {
	inner, ok := r.Object(key, keys...)
	if !ok {
		r.Fail(Missing(r.Raw.Param(key)))
	}
	return inner
}

// Each opens the elements of an array of at most limit objects in a member, and calls f for each until
// the request is refused. An absent array is empty.
func (r Reader) Each(key string, limit int, f func(i int, element Reader)) {
	r.Fail(r.Raw.each(key, limit, func(i int, element *Object) error {
		f(i, Reader{element, r.failed})
		return *r.failed
	}))
}

// Only refuses the first member that is not among keys.
func (r Reader) Only(keys ...string) { r.Fail(r.Raw.Only(keys...)) }

// Inside returns the reader of an object inside the one of r.
func Inside(r Reader, o Object) Reader { return Reader{&o, r.failed} }
