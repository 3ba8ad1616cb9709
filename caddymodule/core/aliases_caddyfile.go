package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// read reads one alias:
//
//	alias NAME {
//		group {                       # any number
//			target PROVIDER/MODEL [weight N]
//		}
//	}
//	alias NAME PROVIDER/MODEL…        # one group
func (a *Aliases) read(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.ArgErr()
	}
	alias := Alias{Name: args[0]}
	if len(args) > 1 {
		var g AliasGroup
		for _, model := range args[1:] {
			g.Targets = append(g.Targets, AliasTarget{Model: model})
		}
		alias.Groups = append(alias.Groups, g)
	}
	err := caddykit.Options{"group": {Many: true, Read: func(d *caddyfile.Dispenser) error {
		if len(args) > 1 {
			return d.Err("an alias with models in its first line has no groups")
		}
		var g AliasGroup
		err := caddykit.Nested(caddykit.Options{"target": {Many: true, Read: g.readTarget}}).Read(d)
		alias.Groups = append(alias.Groups, g)
		return err
	}}}.Block(d)
	*a = append(*a, alias)
	return err
}

func (g *AliasGroup) readTarget(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) != 1 && (len(args) != 3 || args[1] != "weight") {
		return d.ArgErr()
	}
	t := AliasTarget{Model: args[0]}
	if len(args) == 3 {
		weight, err := caddykit.ParsePositive[int](args[2])
		if err != nil {
			return d.Errf("weight %v", err)
		}
		t.Weight = weight
	}
	g.Targets = append(g.Targets, t)
	return nil
}
