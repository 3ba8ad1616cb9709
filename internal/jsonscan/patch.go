package jsonscan

// Patch rewrites one object and leaves every byte that no edit touches as it
// was: order, white space, repeated and unknown members. It holds on to data,
// members and the given values, and copies none of them; they must not change
// before the result is used.
//
// Edits go by the index of a member in members. The last Set or Drop of one
// member counts. Up to eight edits need no allocation.
type Patch struct {
	data    []byte
	members []Member
	n       int
	room    [8]edit // the first n edits; the others in more
	more    []edit
}

// edit is one change: a member replaced or dropped, or a new one.
type edit struct {
	member int    // index; len(members) for a new one, which sorts them last
	key    string // of a new member
	value  []byte // nil to drop
}

// NewPatch begins a rewrite of the object data, with the members [Strict],
// [Lenient] or [Members] found in it.
func NewPatch(data []byte, members []Member) *Patch {
	return &Patch{data: data, members: members}
}

// Set replaces the value of member i. The value must be valid JSON.
func (p *Patch) Set(i int, value []byte) {
	p.put(edit{member: i, value: value})
}

// Drop removes member i, the comma and the white space that belong to it.
func (p *Patch) Drop(i int) {
	p.put(edit{member: i})
}

// Add appends a member behind all others. The key must need no escaping and be
// new to the object; the value must be valid JSON.
func (p *Patch) Add(key string, value []byte) {
	p.put(edit{member: len(p.members), key: key, value: value})
}

// Changed reports whether any edit was made.
func (p *Patch) Changed() bool { return p.n > 0 }

// Len returns the length of the result.
func (p *Patch) Len() int {
	n := 0
	p.each(func(part []byte, key string) { n += len(part) + len(key) })
	return n
}

// Append appends the result to dst.
func (p *Patch) Append(dst []byte) []byte {
	p.each(func(part []byte, key string) {
		dst = append(dst, part...)
		dst = append(dst, key...)
	})
	return dst
}

// Segments appends the result to dst as slices of data and of the new values,
// so that a long body is sent without being copied. It allocates the keys of
// added members.
func (p *Patch) Segments(dst [][]byte) [][]byte {
	p.each(func(part []byte, key string) {
		if key != "" {
			part = []byte(key)
		}
		if len(part) > 0 {
			dst = append(dst, part)
		}
	})
	return dst
}

func (p *Patch) at(i int) *edit {
	if i < len(p.room) {
		return &p.room[i]
	}
	return &p.more[i-len(p.room)]
}

// put inserts e in the order of members, in place of an earlier edit of the
// same member; new members keep the order in which they were added.
func (p *Patch) put(e edit) {
	i := p.n
	for i > 0 && p.at(i-1).member > e.member {
		i--
	}
	if i > 0 && e.member < len(p.members) && p.at(i-1).member == e.member {
		*p.at(i - 1) = e
		return
	}
	if p.n >= len(p.room) {
		p.more = append(p.more, edit{})
	}
	for j := p.n; j > i; j-- {
		*p.at(j) = *p.at(j - 1)
	}
	*p.at(i) = e
	p.n++
}

var (
	openQuote  = []byte(`"`)
	nextQuote  = []byte(`,"`)
	closeQuote = []byte(`":`)
)

// each hands out the parts of the result in order, each as bytes or as the key
// of a new member.
func (p *Patch) each(emit func(part []byte, key string)) {
	var (
		next = 0  // the first edit not yet done
		seen = 0  // the first member not yet passed
		kept = -1 // the last member before seen that was not dropped
		from = 0  // what lies before it in data is handed out or dropped
	)
	upTo := func(end int) {
		if from < end {
			emit(p.data[from:end], "")
		}
	}
	for ; next < p.n && p.at(next).member < len(p.members); next++ {
		e := p.at(next)
		m := p.members[e.member]
		if e.member > seen {
			kept = e.member - 1
		}
		seen = e.member + 1
		switch {
		case e.value != nil:
			upTo(m.ValueStart)
			emit(e.value, "")
			from, kept = m.ValueEnd, e.member
		case kept >= 0: // the comma before it goes too
			upTo(p.members[kept].ValueEnd)
			from = m.ValueEnd
		case seen < len(p.members): // the comma behind it goes too
			upTo(m.KeyStart - 1)
			from = p.members[seen].KeyStart - 1
		default: // all are dropped
			upTo(m.KeyStart - 1)
			from = m.ValueEnd
		}
	}
	if next < p.n {
		if seen < len(p.members) {
			kept = len(p.members) - 1
		}
		open := openQuote
		place := space(p.data, 0) + 1
		if kept >= 0 {
			open, place = nextQuote, p.members[kept].ValueEnd
		}
		upTo(place)
		from = max(from, place)
		for ; next < p.n; next++ {
			e := p.at(next)
			emit(open, "")
			emit(nil, e.key)
			emit(closeQuote, "")
			emit(e.value, "")
			open = nextQuote
		}
	}
	upTo(len(p.data))
}
