package computer

import (
	"image"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// maxName bounds what an error repeats of a member's name, in bytes.
const maxName = 64

// wrong refuses the value of a member.
func wrong(action, member, want string) *apierror.Error {
	at := join(action, member)
	return apierror.New(apierror.InvalidValue, "%s: want %s", at, want).WithParam(at)
}

// missing refuses an action without a member.
func missing(at, want string) *apierror.Error {
	return apierror.New(apierror.MissingParameter, "%s: want %s", at, want).WithParam(at)
}

// unknown refuses a member that an action does not have.
func unknown(action, member string) *apierror.Error {
	at := join(action, member[:min(len(member), maxName)])
	return apierror.New(apierror.UnsupportedParameter, "unknown field %q", at).WithParam(at)
}

func index(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func join(object, member string) string {
	if object == "" {
		return member
	}
	return object + "." + member
}

// inside refuses an action with a place outside the desktop, as large as the caller has it.
func (a *action) inside(space image.Point) error {
	all := image.Rectangle{Max: space}
	refuse := func(member string) error {
		return wrong(a.name, member, "a place on the desktop of "+strconv.Itoa(space.X)+" x "+strconv.Itoa(space.Y)+" (see \"space\")")
	}
	switch {
	case a.at != nil && !a.at.In(all):
		if a.row.by == "action" {
			return refuse("coordinate")
		}
		if a.at.X < 0 || a.at.X >= space.X {
			return refuse("x")
		}
		return refuse("y")
	case a.start != nil && !a.start.In(all):
		return refuse("start_coordinate")
	case !a.region.In(all):
		return refuse("region")
	}
	for i, p := range a.path {
		if !p.In(all) {
			return refuse(index("path", i))
		}
	}
	return nil
}

// failed says in an error how many actions were done before it.
func failed(err error, done int) error {
	e := apierror.From(err)
	about := []byte(`{"done":` + strconv.Itoa(done))
	if len(e.Details) > len("{}") { // it is an object
		about = append(append(about, ','), e.Details[1:]...)
	} else {
		about = append(about, '}')
	}
	copied := *e
	copied.Details = about
	return &copied
}
