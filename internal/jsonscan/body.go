package jsonscan

import "sync"

// Body is a caller's object on its way to a provider: walked once, with the edits that each step
// adds, which are written in one pass at the end. The zero value is ready for [Body.Parse].
//
//	err := body.Parse(data)               // walks it
//	i, ok := body.Find("model")
//	body.Set(i, []byte(`"gpt-5"`))        // notes an edit
//	pieces := body.Segments(nil)          // data and edits, not copied
//	body.Release()
//
// It refers to data, which must not change before the result is used. It is not safe for concurrent
// use.
type Body struct {
	// TwoSpellings says that the receiver takes keys in camel case and in snake case, as Google does,
	// so that mimeType and mime_type are one.
	TwoSpellings bool
	// Own says that the gateway made the text of one that was parsed. So its keys are unique.
	Own bool

	data []byte
	*bodyWork
}

// bodyWork is the memory of a Body from Parse to Release. It is pooled, because a call may hold its
// request long after it has been sent.
type bodyWork struct {
	members []Member
	patch   Patch
}

// usualMembers is how many members fit without allocating.
const usualMembers = 24

var bodyPool = sync.Pool{New: func() any { return &bodyWork{members: make([]Member, 0, usualMembers)} }}

// Parse walks data as [StrictAll] does, or as [Strict] if it is the gateway's own. It replaces what the
// body held, with its edits. The error is a [*SyntaxError]; the body must not be used after it, except
// for Release.
func (b *Body) Parse(data []byte) (err error) {
	if b.bodyWork == nil {
		b.bodyWork = bodyPool.Get().(*bodyWork)
	}
	b.data = data
	if b.Own {
		b.members, err = Strict(data, b.members[:0])
	} else {
		b.members, err = strictAll(data, b.members[:0], b.TwoSpellings)
	}
	b.patch.Reset(b.data, b.members)
	return err
}

// ClearEdits forgets all edits: the next ones are made for another receiver.
func (b *Body) ClearEdits() { b.patch.Reset(b.data, b.members) }

// Release returns the memory of the walk. The body and its members must not be used after it;
// segments may.
func (b *Body) Release() {
	if b.bodyWork != nil {
		b.patch.Reset(nil, nil)
		bodyPool.Put(b.bodyWork)
	}
	*b = Body{}
}

// Data returns the text as it was parsed, without the edits.
func (b *Body) Data() []byte { return b.data }

// Members returns the members as they were parsed, without the edits.
func (b *Body) Members() []Member {
	if b.bodyWork == nil {
		return nil
	}
	return b.members
}

// Find returns the index of the member named key, as [Find] does.
func (b *Body) Find(key string) (int, bool) { return Find(b.data, b.Members(), key) }

// Value returns the value of member i as it was parsed.
func (b *Body) Value(i int) []byte { return b.members[i].Value(b.data) }

// Set replaces the value of member i. The value must be valid JSON. The last Set or Drop of a
// member counts.
func (b *Body) Set(i int, value []byte) { b.patch.Set(i, value) }

// Drop removes member i.
func (b *Body) Drop(i int) { b.patch.Drop(i) }

// Add appends a member behind all others. The key must need no escaping and be new to the object;
// the value must be valid JSON.
func (b *Body) Add(key string, value []byte) { b.patch.Add(key, value) }

// Segments appends the edited object to dst as slices of data and of the new values.
func (b *Body) Segments(dst [][]byte) [][]byte { return b.patch.Segments(dst) }

// Append appends the edited object to dst.
func (b *Body) Append(dst []byte) []byte { return b.patch.Append(dst) }

// Edited returns the value of member i of b after the edits, nil if it is dropped.
func Edited(b *Body, i int) []byte {
	for j := range b.patch.n {
		if e := b.patch.at(j); e.member == i {
			return e.value
		}
	}
	return b.Value(i)
}
