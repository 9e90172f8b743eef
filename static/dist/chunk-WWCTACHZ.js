import{a as c}from"./chunk-ZRPU6WTE.js";var h="No grader is running just now. Your code is kept, and runs as soon as one starts.",o=class extends Error{};async function p(n){let r=`The server answered ${n.status}. Try again in a moment.`,t=await n.json().catch(()=>null);return new o(g(t)??r)}function g(n){if(typeof n!="object"||n===null)return null;for(let r of["message","detail","headline"]){let t=Reflect.get(n,r);if(typeof t=="string"){let e=Reflect.get(n,"remedy");return typeof e=="string"&&e?`${t} ${e}`:t}}return null}async function*k(n,r,t){let e=await fetch(n,{method:"POST",headers:{"Content-Type":"application/json",Accept:"text/event-stream",...c()},body:JSON.stringify(r),signal:t});if(!e.ok||!e.body)throw await p(e);let l=e.body.pipeThrough(new TextDecoderStream).getReader(),s="";for(;;){let{value:u,done:f}=await l.read();if(f)return;let a=(s+u).replaceAll(`\r
`,`
`).split(`

`);s=a.pop()??"";for(let d of a){let i=w(d);i&&(yield i)}}}function w(n){let r="message",t=[];for(let e of n.split(`
`))e.startsWith("event:")?r=e.slice(6).trim():e.startsWith("data:")&&t.push(e.slice(5).replace(/^ /,""));return t.length?{kind:r,data:JSON.parse(t.join(`
`))}:null}export{h as a,o as b,p as c,k as d};
