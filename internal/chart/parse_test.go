package chart

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// element is an element of a chart.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all returns the elements of a name, at any depth.
func (e *element) all(name string) (found []*element) {
	for i := range e.Children {
		child := &e.Children[i]
		if child.XMLName.Local == name {
			found = append(found, child)
		}
		found = append(found, child.all(name)...)
	}
	return found
}

// drawn are the elements and attributes that charts have. A style attribute or a script would break
// the Content-Security-Policy or worse.
var (
	drawnElements   = regexp.MustCompile(`^(svg|title|desc|g|line|text|path|rect)$`)
	drawnAttributes = regexp.MustCompile(`^(class|id|role|aria-labelledby|viewBox|preserveAspectRatio|d|x|x1|x2|y|y1|y2|dx|dy|width|height|data-zone|data-at|data-from|data-step)$`)
	drawnValues     = regexp.MustCompile(`^[-A-Za-z0-9 .%:]*$`)
)

// parse returns a chart as a tree, and checks that it has nothing that no chart has.
func parse(t testing.TB, svg template.HTML) *element {
	t.Helper()
	var root element
	if err := xml.Unmarshal([]byte(svg), &root); err != nil {
		t.Fatalf("not XML: %v\n%s", err, svg)
	}
	var check func(*element)
	check = func(e *element) {
		if !drawnElements.MatchString(e.XMLName.Local) {
			t.Errorf("an element %q", e.XMLName.Local)
		}
		for _, a := range e.Attrs {
			if !drawnAttributes.MatchString(a.Name.Local) || !drawnValues.MatchString(a.Value) || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("%s has %s=%q", e.XMLName.Local, a.Name.Local, a.Value)
			}
		}
		for i := range e.Children {
			check(&e.Children[i])
		}
	}
	check(&root)
	if root.attr("role") != "img" || len(root.all("title")) == 0 || !strings.HasPrefix(root.attr("aria-labelledby"), root.Children[0].attr("id")) {
		t.Errorf("the chart has no name: %.200s", svg)
	}
	return &root
}

var bars = regexp.MustCompile(`M(\d+) (\d+)v-(\d+)h(\d+)v(\d+)z`)

// heights returns the heights of the bars of a path by their step.
func heights(t testing.TB, path string) map[int]int {
	t.Helper()
	found := map[int]int{}
	rest := bars.ReplaceAllStringFunc(path, func(bar string) string {
		m := bars.FindStringSubmatch(bar)
		x, _ := strconv.Atoi(m[1])
		h, _ := strconv.Atoi(m[3])
		if m[3] != m[5] {
			t.Errorf("%q does not return to where it began", bar)
		}
		found[x/stepWidth] = h
		return ""
	})
	if rest != "" {
		t.Errorf("%q is no bar", rest)
	}
	return found
}

// topOf is the value of the uppermost line of the axis, whose label is a number, perhaps of thousands.
func topOf(t testing.TB, chart *element) float64 {
	t.Helper()
	labels := chart.all("text")
	for _, label := range labels {
		if label.attr("x") == "-8" && label.attr("y") == "0%" {
			var v float64
			if _, err := fmt.Sscan(strings.TrimSuffix(label.Text, "k"), &v); err != nil {
				t.Fatalf("the label %q: %v", label.Text, err)
			}
			if strings.HasSuffix(label.Text, "k") {
				v *= 1000
			}
			return v
		}
	}
	t.Fatal("no axis")
	return 0
}
