package jsonscan

// Patch rewrites one object and leaves every byte that no edit touches as it was: order, white
// space, repeated and unknown members. It refers to data, members and the given values without
// copying them; they must not change before the result is used.
//
// An edit names a member by its index in members. The last Set or Drop of a member counts. Up to
// eight edits need no allocation.
type Patch struct {
	data    []byte
	members []Member
	n       int
	first   [8]edit // the first n edits; the others are in more
	more    []edit
}

// edit is one change: a member replaced or dropped, or a new one.
type edit struct {
	member int    // index; len(members) for a new one, which sorts them last
	key    string // of a new member
	value  []byte // nil to drop
}

// NewPatch begins a rewrite of the object data, with the members [Strict], [Lenient] or [Members]
// found in it.
func NewPatch(data []byte, members []Member) *Patch {
	return &Patch{data: data, members: members}
}

// Reset makes p what [NewPatch] returns, and drops everything that it referred to.
func (p *Patch) Reset(data []byte, members []Member) {
	clear(p.first[:min(p.n, len(p.first))])
	p.data, p.members, p.n, p.more = data, members, 0, nil
}

// Set replaces the value of member i. The value must be valid JSON.
func (p *Patch) Set(i int, value []byte) {
	p.put(edit{member: i, value: value})
}

// Drop removes member i with its comma and white space.
func (p *Patch) Drop(i int) {
	p.put(edit{member: i})
}

// Add appends a member behind all others. The key must need no escaping and be new to the object;
// the value must be valid JSON.
func (p *Patch) Add(key string, value []byte) {
	p.put(edit{member: len(p.members), key: key, value: value})
}

// Changed reports whether any edit was made.
func (p *Patch) Changed() bool { return p.n > 0 }

// Len returns the length of the result.
func (p *Patch) Len() int {
	n := 0
	for c := start(); ; {
		part := p.next(&c)
		n += part.to - part.from
		if part.edit == nil {
			return n
		}
		if part.open != "" {
			n += len(part.open) + len(part.edit.key) + len(closeQuote)
		}
		n += len(part.edit.value)
	}
}

// Append appends the result to dst.
func (p *Patch) Append(dst []byte) []byte {
	for c := start(); ; {
		part := p.next(&c)
		dst = append(dst, p.data[part.from:part.to]...)
		if part.edit == nil {
			return dst
		}
		if part.open != "" {
			dst = append(dst, part.open...)
			dst = append(dst, part.edit.key...)
			dst = append(dst, closeQuote...)
		}
		dst = append(dst, part.edit.value...)
	}
}

// Segments appends the result to dst as slices of data and of the new values, so that a long body
// is sent without a copy. It allocates the keys of added members.
func (p *Patch) Segments(dst [][]byte) [][]byte {
	for c := start(); ; {
		part := p.next(&c)
		if part.from < part.to {
			dst = append(dst, p.data[part.from:part.to:part.to])
		}
		if part.edit == nil {
			return dst
		}
		if part.open != "" {
			dst = append(dst, []byte(part.open+part.edit.key+closeQuote))
		}
		if len(part.edit.value) > 0 {
			dst = append(dst, part.edit.value)
		}
	}
}

// Edit replaces a range of a text. From and To are offsets, New may be empty.
type Edit struct {
	From, To int
	New      []byte
}

// Edits appends the changes to dst, in the order of data, with base added to their offsets. It is
// for objects inside others: the changes of all of them are applied at once. The text of new
// members is appended to scratch.
func (p *Patch) Edits(dst []Edit, scratch []byte, base int) ([]Edit, []byte) {
	var before part
	for c := start(); ; {
		next := p.next(&c)
		if e := before.edit; e != nil {
			value := e.value
			if before.open != "" {
				at := len(scratch)
				scratch = append(append(append(append(scratch, before.open...), e.key...), closeQuote...), value...)
				value = scratch[at:len(scratch):len(scratch)]
			}
			dst = append(dst, Edit{base + before.to, base + next.from, value})
		}
		if next.edit == nil {
			return dst, scratch
		}
		before = next
	}
}

func (p *Patch) at(i int) *edit {
	if i < len(p.first) {
		return &p.first[i]
	}
	return &p.more[i-len(p.first)]
}

// put inserts e in the order of members. It replaces an earlier edit of the same member; new
// members keep the order in which they were added.
func (p *Patch) put(e edit) {
	i := p.n
	for i > 0 && p.at(i-1).member > e.member {
		i--
	}
	if i > 0 && e.member < len(p.members) && p.at(i-1).member == e.member {
		*p.at(i - 1) = e
		return
	}
	if p.n >= len(p.first) {
		p.more = append(p.more, edit{})
	}
	for j := p.n; j > i; j-- {
		*p.at(j) = *p.at(j - 1)
	}
	*p.at(i) = e
	p.n++
}

const (
	openQuote  = `"`
	nextQuote  = `,"`
	closeQuote = `":`
)

// part is a stretch of data that is kept, and the edit behind it, nil at the end. open is the text
// before the key of a new member, "" for another edit.
type part struct {
	from, to int
	edit     *edit
	open     string
}

// cursor is a position in the result.
type cursor struct {
	edit  int // the first not yet done
	seen  int // the first member not yet passed
	kept  int // the last member before seen that was not dropped, -1 for none
	from  int // data before it was returned or dropped
	added bool
}

func start() cursor { return cursor{kept: -1} }

// next returns the result part by part.
func (p *Patch) next(c *cursor) part {
	if c.edit == p.n {
		return part{from: min(c.from, len(p.data)), to: len(p.data)}
	}
	e := p.at(c.edit)
	c.edit++
	out := part{from: c.from, edit: e}
	if e.member == len(p.members) {
		out.open = nextQuote
		if !c.added {
			out.to = p.end(c)
			if c.kept < 0 {
				out.open = openQuote
			}
		}
		out.to = max(out.to, out.from)
		c.from, c.added = out.to, true
		return out
	}
	m := p.members[e.member]
	if e.member > c.seen {
		c.kept = e.member - 1
	}
	c.seen = e.member + 1
	switch {
	case e.value != nil:
		out.to = m.ValueStart
		c.from, c.kept = m.ValueEnd, e.member
	case c.kept >= 0: // the comma before it goes too
		out.to = p.members[c.kept].ValueEnd
		c.from = m.ValueEnd
	case c.seen < len(p.members): // the comma behind it goes too
		out.to = m.KeyStart - 1
		c.from = p.members[c.seen].KeyStart - 1
	default: // all are dropped
		out.to = m.KeyStart - 1
		c.from = m.ValueEnd
	}
	out.to = max(out.to, out.from)
	return out
}

// end returns the offset of new members: behind the last one kept.
func (p *Patch) end(c *cursor) int {
	if c.seen < len(p.members) {
		c.kept = len(p.members) - 1
	}
	if c.kept < 0 {
		return space(p.data, 0) + 1
	}
	return p.members[c.kept].ValueEnd
}
