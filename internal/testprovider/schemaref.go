package testprovider

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// reference writes an example of what ref points to. A reference inside itself has no
// end, so it fails and leaves the choice to the next alternative.
func (e *example) reference(ref string) error {
	if e.open[ref] {
		return errSchemaRecursive
	}
	target, err := e.resolve(ref)
	if err != nil {
		return err
	}
	e.open[ref] = true
	defer delete(e.open, ref)
	return e.value(target)
}

// resolve follows a JSON pointer (RFC 6901) inside the document.
func (e *example) resolve(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, fmt.Errorf("reference %q is outside of the schema", ref)
	}
	target := e.root
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var found bool
		switch t := target.(type) {
		case map[string]any:
			target, found = t[step]
		case []any:
			i, err := strconv.Atoi(step)
			if found = err == nil && i >= 0 && i < len(t); found {
				target = t[i]
			}
		}
		if !found {
			return nil, fmt.Errorf("reference %q leads nowhere", ref)
		}
	}
	return target, nil
}

// merge makes one schema of s and all of list. References directly in the list are
// followed one step, which is how generators write inheritance.
func (e *example) merge(s map[string]any, list []any) (map[string]any, error) {
	for _, part := range list {
		p, ok := part.(map[string]any)
		if !ok {
			return nil, errSchemaForm
		}
		if ref, ok := p["$ref"].(string); ok {
			target, err := e.resolve(ref)
			if err != nil {
				return nil, err
			}
			if p, ok = target.(map[string]any); !ok {
				return nil, errSchemaForm
			}
		}
		var err error
		if s, err = e.union(s, p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// union is a schema with the keywords of both; b wins, except that properties and
// required add up.
func (e *example) union(a, b map[string]any) (map[string]any, error) {
	pa, _ := a["properties"].(map[string]any)
	pb, _ := b["properties"].(map[string]any)
	ra, _ := a["required"].([]any)
	rb, _ := b["required"].([]any)
	if err := e.spend(len(a) + len(b) + len(pa) + len(pb) + len(ra) + len(rb)); err != nil {
		return nil, err
	}
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	if pa != nil && pb != nil {
		properties := maps.Clone(pa)
		maps.Copy(properties, pb)
		sum["properties"] = properties
	}
	if ra != nil && rb != nil {
		sum["required"] = slices.Concat(ra, rb)
	}
	return sum, nil
}

func without(s map[string]any, key string) map[string]any {
	rest := maps.Clone(s)
	delete(rest, key)
	return rest
}
