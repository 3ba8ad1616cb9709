package manual

import (
	"slices"
	"testing"
)

func TestBlocksKeepTheirPlaceKindAndText(t *testing.T) {
	const page = "a\n```sh\nmake\n\tx\n```\n- b\n  ```json GET /v1/models\n  {\n    \"a\": 1}\n  ```\n```\n```\n"
	got, err := Read("docs/a.md", page)
	want := []Block{
		{"docs/a.md", 2, "sh", "make\n\tx\n"},
		{"docs/a.md", 7, "json GET /v1/models", "{\n  \"a\": 1}\n"},
		{"docs/a.md", 11, "", ""},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	if _, err := Read("docs/a.md", "```\nopen\n"); err == nil {
		t.Error("a block without an end was read")
	}
}
