package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
)

// spoken is a part of a page as a screen reader gets it.
type spoken struct {
	role, name, live string
	level            float64 // of a heading
	parts            []spoken
}

// readAloud is what a screen reader gets of the page, from Chromium: the parts that are not ignored, in
// their order.
func readAloud(b *tab) spoken {
	b.t.Helper()
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	list := call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	for _, node := range list {
		nodes[node.NodeID] = node
	}
	text := func(v *accessibility.Value) (text string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &text) // else no text
		}
		return text
	}
	var read func(id accessibility.NodeID) []spoken
	read = func(id accessibility.NodeID) (parts []spoken) {
		node := nodes[id]
		if node == nil {
			return nil
		}
		for _, child := range node.ChildIDs {
			parts = append(parts, read(child)...)
		}
		if node.Ignored {
			return parts
		}
		one := spoken{role: text(node.Role), name: text(node.Name), parts: parts}
		for _, p := range node.Properties {
			switch p.Name {
			case accessibility.PropertyNameLive:
				one.live = text(p.Value)
			case accessibility.PropertyNameLevel:
				_ = json.Unmarshal(p.Value.Value, &one.level)
			}
		}
		return []spoken{one}
	}
	return spoken{parts: read(list[0].NodeID)}
}

// each calls visit for a part and all within it, in the order of reading.
func (s spoken) each(visit func(spoken)) {
	visit(s)
	for _, part := range s.parts {
		part.each(visit)
	}
}

// roles are those of the parts, in the order of reading.
func (s spoken) roles(of ...string) (found []string) {
	s.each(func(part spoken) {
		if slices.Contains(of, part.role) {
			found = append(found, part.role)
		}
	})
	return found
}

// landmarks are the outer ones, in the order of reading.
func (s spoken) landmarks() (found []string) {
	for _, part := range s.parts {
		if slices.Contains([]string{"banner", "navigation", "main", "complementary", "contentinfo"}, part.role) {
			found = append(found, part.role)
		} else {
			found = append(found, part.landmarks()...)
		}
	}
	return found
}

// readsInOrder fails the test if a screen reader cannot tell what the page is and where: landmarks in
// their order, one heading of the page, no level left out below it, tables with captions and headers.
func readsInOrder(b *tab, path string) {
	b.t.Helper()
	page := readAloud(b)
	if marks := strings.Join(page.landmarks(), " "); marks != "banner navigation main" && marks != "banner main" { // without a menu: the sign-in
		b.t.Errorf("%s: the landmarks are %s", path, marks)
	}
	var level, firsts float64
	places := map[string]bool{}
	page.each(func(part spoken) {
		switch part.role {
		case "heading":
			if part.level == 1 {
				firsts, level = firsts+1, 0
			}
			if firsts > 0 && part.level > level+1 {
				b.t.Errorf("%s: the heading %q is of level %v after %v", path, part.name, part.level, level)
			}
			level = part.level
		case "main":
			if firsts > 0 {
				b.t.Errorf("%s: the heading of the page is outside of it", path)
			}
		case "navigation":
			if part.name == "" || places[part.name] {
				b.t.Errorf("%s: nothing tells one navigation %q from another", path, part.name)
			}
			places[part.name] = true
		case "table":
			if heads := part.roles("columnheader", "rowheader"); part.name == "" || len(heads) == 0 {
				b.t.Errorf("%s: the table %q has %d headers", path, part.name, len(heads))
			}
		}
	})
	if firsts != 1 {
		b.t.Errorf("%s: %v headings are of level 1", path, firsts)
	}
}

// What changes by itself is announced, and interrupts nobody.
func TestNewsIsAnnouncedPolitely(t *testing.T) {
	b := newTab(t, sharedSite(t))
	b.signIn("ops")
	for _, c := range []struct{ path, region string }{
		{"/console/try", "#answers"}, {demoPath, ".state"}, {demoPath, ".hold [role=status]"},
	} {
		b.open(c.path)
		evaluate[any](b, fmt.Sprintf(`document.querySelector(%s).setAttribute("aria-label", "news")`, quote(c.region)))
		var live []string
		readAloud(b).each(func(part spoken) {
			if part.name == "news" {
				live = append(live, part.live)
			}
		})
		if !slices.Equal(live, []string{"polite"}) {
			t.Errorf("%s of %s is announced %q", c.region, c.path, live)
		}
	}
}
