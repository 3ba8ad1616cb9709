package chatonresponses

import "testing"

func TestItemsAreFoundByIndexAndID(t *testing.T) {
	id := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(`"` + s + `"`)
	}
	var l itemList
	for _, it := range []struct {
		index int64
		id    string
		kind  itemKind
	}{
		{0, "m0", messageItem}, {1, "m1", messageItem}, {1, "m1b", messageItem}, {2, "r2", reasoningItem}, {-1, "m3", messageItem}, {-1, "", messageItem},
	} {
		l.add(it.index, id(it.id), it.kind)
	}
	for _, c := range []struct {
		index int64
		id    string
		kind  itemKind
		want  int // -1 for none
	}{
		{0, "m0", messageItem, 0},
		{0, "", messageItem, 0},
		{0, "changed", messageItem, 0}, // some providers change the id in each event
		{1, "m1", messageItem, 1},      // two items have this index
		{1, "m1b", messageItem, 2},
		{1, "other", messageItem, 2}, // the last is the likelier one
		{2, "r2", messageItem, -1},
		{2, "r2", reasoningItem, 3},
		{-1, "m3", messageItem, 4}, // without an index only the id counts
		{-1, "other", messageItem, -1},
		{-1, "", messageItem, 5},
		{9, "m0", messageItem, -1},
	} {
		want := (*item)(nil)
		if c.want >= 0 {
			want = &l.items[c.want]
		}
		if got := l.find(c.index, id(c.id), c.kind); got != want {
			t.Errorf("%d %q: %+v", c.index, c.id, got)
		}
	}
	if it := l.get(9, id("m9"), messageItem); it != &l.items[6] || l.get(9, nil, messageItem) != it {
		t.Errorf("a new item is not kept: %+v", it)
	}
	if it := l.add(10, make([]byte, maxItemID+1), messageItem); it.id != nil {
		t.Error("an id without bounds is kept")
	}
}

func TestCallsAreFoundByTheirOwnIDs(t *testing.T) {
	var l itemList
	for i, callID := range []string{`"c0"`, `"c1"`, ``} {
		it := l.add([]int64{0, -1, -1}[i], []byte([]string{`"i0"`, `"i1"`, `"i2"`}[i]), callItem)
		if callID != "" {
			it.callID = []byte(callID)
		}
	}
	l.add(3, []byte(`"i3"`), messageItem)
	quoted := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(`"` + s + `"`)
	}
	for _, c := range []struct {
		index      int64
		id, callID string
		added      bool
		want       int
	}{
		{0, "changed", "c0", false, 0},
		{0, "i0", "c9", false, -1}, // another call at the same index
		{0, "", "", false, 0},
		{-1, "", "c1", false, 2}, // the last call may be the one: its own id is unknown
		{-1, "i1", "c1", false, 1},
		{-1, "i2", "", false, 2},
		{-1, "i0", "", false, 0},
		{-1, "i9", "", false, -1},
		{-1, "", "", true, -1}, // a new call
		{-1, "", "", false, 2},
		{3, "i3", "", false, -1},
	} {
		want := (*item)(nil)
		if c.want >= 0 {
			want = &l.items[c.want]
		}
		if got := l.findCall(c.index, quoted(c.id), quoted(c.callID), c.added); got != want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	if !l.hasCall([]byte(`"c1"`)) || l.hasCall([]byte(`"i3"`)) {
		t.Error("ids of calls are not told apart")
	}
}

func TestPartsCountAsItems(t *testing.T) {
	var l itemList
	it := l.add(0, nil, reasoningItem)
	own := l.part(it, 0, false, 0)
	if own.index = 0; l.part(it, 0, false, 0) != &it.parts[0] {
		t.Error("a part is added twice")
	}
	if p := l.part(it, 0, true, 5); !p.summary || p.before != 5 || l.parts != 3 {
		t.Errorf("%+v, %d parts", p, l.parts)
	}
}
