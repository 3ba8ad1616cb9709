package chatongemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// logprobsOf returns the tokens of a logprobsResult as elements of chat's list:
//
//	{"chosenCandidates": [{"token", "logProbability"}], "topCandidates": [{"candidates": [{…}]}]}
func logprobsOf(result []byte) (tokens []byte) {
	top := translate.Member(result, "topCandidates")
	steps := jsonscan.Elements(top, nil)
	translate.EachObject(translate.Member(result, "chosenCandidates"), func(chosen []byte) {
		tokens = append(appendToken(tokens, chosen), `,"top_logprobs":[`...)
		if len(steps) > 0 {
			translate.EachObject(translate.Member(steps[0].Value(top), "candidates"), func(other []byte) {
				tokens = append(appendToken(tokens, other), '}')
			})
			steps = steps[1:]
		}
		tokens = append(tokens, "]}"...)
	})
	return tokens
}

// appendToken appends a token up to its alternatives. Google leaves out a value that is 0.
func appendToken(dst, object []byte) []byte {
	token, logprob := translate.Member(object, "token"), translate.Member(object, "logProbability")
	if len(token) == 0 || token[0] != '"' {
		token = []byte(`""`)
	}
	if len(logprob) == 0 || jsonscan.KindOf(logprob[0]) != '0' {
		logprob = []byte("0")
	}
	dst = append(translate.AppendComma(dst), '{')
	dst = translate.AppendMember(dst, "token", token)
	dst = translate.AppendMember(dst, "logprob", logprob)
	return append(dst, `,"bytes":null`...)
}
