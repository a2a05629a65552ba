package varve_test

import (
	"encoding/json"
	"testing"
	"fmt"
	"varve"
)
func BenchmarkQ(b *testing.B){
 s,err:=varve.Open("memory:",nil); if err!=nil{b.Fatal(err)}
 defer s.Close()
 x,_:=s.CreateSession(nil)
 for i:=0;i<100;i++{ x.Add(map[string]any{"type":"finding","content":map[string]any{"message":fmt.Sprintf("Tea number %d, not coffee, in the morning at nine",i),"role":"user","n":i},"tags":[]string{"drinks","people.ann"},"importance":0.7,"references":[]string{"a"}}) }
 r,_:=x.Query(varve.Query{Limit:100}); text,_:=r.JSON(); fmt.Println(len(text))
 b.Run("any",func(b *testing.B){b.ReportAllocs();for b.Loop(){ var v any; json.Unmarshal(text,&v)}})
 b.Run("query",func(b *testing.B){b.ReportAllocs();for b.Loop(){ r,_:=x.Query(varve.Query{Limit:100}); r.Close() }})
 b.Run("querypage",func(b *testing.B){b.ReportAllocs();for b.Loop(){ r,_:=x.Query(varve.Query{Limit:100}); r.Page(); r.Close() }})
 b.Run("page",func(b *testing.B){b.ReportAllocs();for b.Loop(){ r.Page() }})
 b.Run("pageraw",func(b *testing.B){b.ReportAllocs();for b.Loop(){ varve.PageAs[json.RawMessage](r) }})
 b.Run("json",func(b *testing.B){b.ReportAllocs();for b.Loop(){ r.JSON() }})
}
