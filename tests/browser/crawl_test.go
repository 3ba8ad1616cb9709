package browser

import (
	"net/url"
	"regexp"
	"strings"
)

// mostPages bounds how many pages a crawl opens.
const mostPages = 60

var oneOfMany = regexp.MustCompile(`^(/console/(?:activity|keys|sessions|workstations)/)[^/]+`)

// crawl opens each kind of page that links lead to, and calls visit there. It returns their paths. Of
// the links of a page to one kind it takes that with the longest text, with its row of a table: its
// names fit the worst.
func (b *tab) crawl(visit func(path string)) (paths []string) {
	b.t.Helper()
	waiting, seen := []string{"/console/"}, map[string]bool{}
	for len(waiting) > 0 && len(paths) < mostPages {
		path := waiting[0]
		waiting = waiting[1:]
		if kind := kindOf(path); kind == "" || seen[kind] {
			continue
		} else {
			seen[kind] = true
		}
		if status := b.open(path); status != 200 {
			b.t.Errorf("%s: status %d: %s", path, status, b.text("main"))
			continue
		}
		paths = append(paths, path)
		visit(path)
		waiting = append(waiting, b.longestLinks()...)
	}
	return paths
}

// longestLinks are the links of the page to each kind of page, in the order of the page: of each kind
// that with the longest text.
func (b *tab) longestLinks() (paths []string) {
	b.t.Helper()
	places, longest := map[string]int{}, map[string]int{}
	for _, link := range evaluate[[]struct {
		Path   string
		Length int
	}](b, `[...document.links].filter(a => a.origin === location.origin)
		.map(a => ({Path: a.pathname + a.search, Length: (a.closest("tr") ?? a).textContent.length}))`) {
		kind := kindOf(link.Path)
		if place, found := places[kind]; !found {
			places[kind] = len(paths)
			paths = append(paths, link.Path)
		} else if link.Length > longest[kind] {
			paths[place] = link.Path
		}
		longest[kind] = max(longest[kind], link.Length)
	}
	return paths
}

// kindOf is the same for pages that differ only in their row or their filters; "" is no page of
// the console.
func kindOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(u.Path, "/console/") || strings.HasSuffix(u.Path, ".csv") {
		return ""
	}
	return oneOfMany.ReplaceAllString(u.Path, "$1*")
}
