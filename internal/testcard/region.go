package testcard

import (
	"image"
	"slices"
)

// maxRegion is how many rectangles a region may have; beyond that it becomes its bounds.
const maxRegion = 32

// add puts r into a region: rectangles that do not overlap each other. What overlaps is joined to
// its bounds.
func add(region []image.Rectangle, r image.Rectangle) []image.Rectangle {
	if r.Empty() {
		return region
	}
	for i := 0; i < len(region); i++ {
		if old := region[i]; old.Overlaps(r) {
			region = slices.Delete(region, i, i+1)
			r = r.Union(old)
			i = -1 // it may have grown over those before
		}
	}
	if len(region) == maxRegion {
		for _, old := range region {
			r = r.Union(old)
		}
		region = region[:0]
	}
	return append(region, r)
}

// divide takes out of a region what lies within area, and returns that and what is left.
func divide(region []image.Rectangle, area image.Rectangle) (within, left []image.Rectangle) {
	for _, r := range region {
		within = add(within, r.Intersect(area))
		for _, part := range subtract(r, area) {
			left = add(left, part)
		}
	}
	return within, left
}

// subtract cuts hole out of r: the parts above, below, left and right of it, some of them empty.
func subtract(r, hole image.Rectangle) [4]image.Rectangle {
	hole = hole.Intersect(r)
	if hole.Empty() {
		return [4]image.Rectangle{r}
	}
	return [4]image.Rectangle{
		{Min: r.Min, Max: image.Pt(r.Max.X, hole.Min.Y)},
		{Min: image.Pt(r.Min.X, hole.Max.Y), Max: r.Max},
		{Min: image.Pt(r.Min.X, hole.Min.Y), Max: image.Pt(hole.Min.X, hole.Max.Y)},
		{Min: image.Pt(hole.Max.X, hole.Min.Y), Max: image.Pt(r.Max.X, hole.Max.Y)},
	}
}
